// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"testing"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Lists and watches are served from the watch cache as these gates of the process say. A version of Kubernetes that
// is emulated by mistake turns them off.
func TestFeatureGatesOfTheWatchCache(t *testing.T) {
	o := New()
	if err := o.Server.ComponentGlobalsRegistry.Set(); err != nil {
		t.Fatal(err)
	}
	for _, gate := range []featuregate.Feature{
		features.WatchList,
		features.ListFromCacheSnapshot,
		features.DetectCacheInconsistency,
	} {
		if !utilfeature.DefaultFeatureGate.Enabled(gate) {
			t.Errorf("%s is off", gate)
		}
	}
}
