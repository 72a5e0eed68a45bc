// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// What was ever stored must be read for ever. testdata/HEAD holds a box with every field set, in each of the formats,
// as this code encodes it; the folders beside it hold what releases stored, and never change. After an intended
// change of the types, UPDATE_COMPATIBILITY_FIXTURE_DATA=true writes HEAD anew; before a release, HEAD is copied to
// a folder of the release's name.
func TestCompatibility(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := modelv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	options := roundtrip.NewCompatibilityTestOptions(scheme)
	options.Kinds = []schema.GroupVersionKind{modelv1.SchemeGroupVersion.WithKind("ModelBox")}
	options.Complete(t).Run(t)
}
