// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/claimresize"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/hostfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/podsecurity"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/storagequota"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/workloadpermission"
)

func TestAdmissionPlugins(t *testing.T) {
	generic, options := genericoptions.NewAdmissionOptions(), genericoptions.NewAdmissionOptions()
	setAdmissionPlugins(options)
	for what, lists := range map[string][2][]string{
		"registered": {generic.Plugins.Registered(), options.Plugins.Registered()},
		"on":         {generic.RecommendedPluginOrder, options.RecommendedPluginOrder},
	} {
		want := sets.New(lists[0]...).Insert(hostfields.PluginName, podsecurity.PluginName, workloadpermission.PluginName, claimresize.PluginName, storagequota.PluginName, resourcequota.PluginName)
		if got := sets.New(lists[1]...); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", what, sets.List(got), sets.List(want))
		}
	}
}
