// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
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
func setAdmissionPlugins(options *genericoptions.AdmissionOptions, kinds *policies.Kinds) {
	options.Plugins = admission.NewPlugins()
	kinds.Register(options.Plugins)
	hostfields.Register(options.Plugins)
	podsecurity.Register(options.Plugins)
	workloadpermission.Register(options.Plugins)
	claimresize.Register(options.Plugins)
	storagequota.Register(options.Plugins)
	resourcequota.Register(options.Plugins)
	options.RecommendedPluginOrder = append(options.RecommendedPluginOrder,
		hostfields.PluginName, podsecurity.PluginName, workloadpermission.PluginName, claimresize.PluginName, storagequota.PluginName, resourcequota.PluginName)
}

// quotaInitializer makes the resource quotas of namespaces count boxes. Nothing but their number is known of them.
func quotaInitializer() admission.PluginInitializer {
	return quotaConfiguration{generic.NewConfiguration(nil, nil)}
}

type quotaConfiguration struct{ quota.Configuration }

// Initialize gives the configuration to the plugin that wants it.
func (q quotaConfiguration) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		wants.SetQuotaConfiguration(q.Configuration)
	}
}
