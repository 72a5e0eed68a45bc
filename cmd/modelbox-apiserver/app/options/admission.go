// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/discovery"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/podsecurity"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/storagequota"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/workloadpermission"
)

// addPlugins adds to what holds for every kind of object what holds for those that have pods, and what quotas allow.
// Those come last, as they do in a kube-apiserver: what is refused for another reason is not counted.
func addPlugins(admission *genericoptions.AdmissionOptions) {
	podsecurity.Register(admission.Plugins)
	workloadpermission.Register(admission.Plugins)
	storagequota.Register(admission.Plugins)
	resourcequota.Register(admission.Plugins)
	admission.RecommendedPluginOrder = append(admission.RecommendedPluginOrder,
		podsecurity.PluginName, workloadpermission.PluginName, storagequota.PluginName, resourcequota.PluginName)
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

// policyPlugins are the admission plugins that watch resources of the host cluster, by resource. A host that does
// not serve one of them would leave its plugin waiting, and every write refused.
var policyPlugins = map[string]string{
	"mutatingadmissionpolicies":   mutatingpolicy.PluginName,
	"validatingadmissionpolicies": validatingpolicy.PluginName,
}

// turnOffUnservedPolicies turns off the policy plugins whose policies the host cluster does not serve.
func turnOffUnservedPolicies(admission *genericoptions.AdmissionOptions, config *genericapiserver.RecommendedConfig) error {
	client, err := discovery.NewDiscoveryClientForConfig(config.ClientConfig)
	if err != nil {
		return fmt.Errorf("creating a discovery client: %w", err)
	}
	groupVersion := admissionregistrationv1.SchemeGroupVersion.String()
	resources, err := client.ServerResourcesForGroupVersion(groupVersion)
	if err != nil {
		return fmt.Errorf("discovering which resources of %s the cluster serves: %w", groupVersion, err)
	}
	served := map[string]bool{}
	for _, resource := range resources.APIResources {
		served[resource.Name] = true
	}
	for resource, plugin := range policyPlugins {
		if !served[resource] {
			admission.DefaultOffPlugins.Insert(plugin)
		}
	}
	return nil
}
