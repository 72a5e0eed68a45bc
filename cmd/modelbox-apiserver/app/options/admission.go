// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/claimresize"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/hostfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/podsecurity"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/storagequota"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/workloadpermission"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/policies"
)

// setAdmissionPlugins adds to what holds for every kind of object what holds for those that have pods, what the cluster
// knows, and what quotas allow, and lets admission policies wait for a cluster that serves them. Quotas come last, as they do in a
// kube-apiserver: what is refused for another reason is not counted.
func setAdmissionPlugins(options *genericoptions.AdmissionOptions) {
	options.Plugins = admission.NewPlugins()
	policies.Register(options.Plugins)
	hostfields.Register(options.Plugins)
	podsecurity.Register(options.Plugins)
	workloadpermission.Register(options.Plugins)
	claimresize.Register(options.Plugins)
	storagequota.Register(options.Plugins)
	resourcequota.Register(options.Plugins)
	options.RecommendedPluginOrder = append(options.RecommendedPluginOrder,
		hostfields.PluginName, podsecurity.PluginName, workloadpermission.PluginName, claimresize.PluginName, storagequota.PluginName, resourcequota.PluginName)
}
