// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package policies has the admission plugins of a generic API server. The plugins of admission policies wait for a cluster that
// serves these policies.
package policies

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// policiesPeriod is how often the cluster is asked for kinds of admission policies that it did not serve.
	policiesPeriod = time.Minute

	// findingPolicies is the hook that asks.
	findingPolicies = "find-admission-policies"
)

// policyKind is a resource of the host cluster that an admission plugin watches. A cluster that does not serve it would
// leave the plugin waiting, and every write refused: until it does, the plugin is off.
type policyKind struct {
	resource string
	isServed atomic.Bool
	// initialize starts the plugin; nil unless it is enabled and was not started.
	initialize func() error
}

// start initializes the plugin when its kind is served.
func (k *policyKind) start(initialize func() error) error {
	if k.isServed.Load() {
		return initialize()
	}
	k.initialize = initialize
	return nil
}

// Kinds are those that the plugins know.
type Kinds struct {
	validating, mutating policyKind
}

// NewKinds returns the kinds, of which it is not known yet whether the cluster serves them.
func NewKinds() *Kinds {
	return &Kinds{
		validating: policyKind{resource: "validatingadmissionpolicies"},
		mutating:   policyKind{resource: "mutatingadmissionpolicies"},
	}
}

func (k *Kinds) all() []*policyKind { return []*policyKind{&k.validating, &k.mutating} }

// Register registers the plugins of a generic API server. The plugins of policies can wait for their kinds, and Kinds must
// initialize them.
func Register(plugins *admission.Plugins) {
	lifecycle.Register(plugins)
	validatingwebhook.Register(plugins)
	mutatingwebhook.Register(plugins)
	plugins.Register(validatingpolicy.PluginName, func(config io.Reader) (admission.Interface, error) {
		plugin, err := validatingpolicy.NewPlugin(config)
		if err != nil {
			return nil, err
		}
		return &validatingPolicies{Plugin: plugin}, nil
	})
	plugins.Register(mutatingpolicy.PluginName, func(config io.Reader) (admission.Interface, error) {
		plugin, err := mutatingpolicy.NewPlugin(config)
		if err != nil {
			return nil, err
		}
		return &mutatingPolicies{Plugin: plugin}, nil
	})
}

// Initialize tells a plugin of policies of its kind.
func (k *Kinds) Initialize(plugin admission.Interface) {
	switch plugin := plugin.(type) {
	case *validatingPolicies:
		plugin.kind = &k.validating
	case *mutatingPolicies:
		plugin.kind = &k.mutating
	}
}

// validatingPolicies is the plugin for ValidatingAdmissionPolicies once the cluster serves them.
type validatingPolicies struct {
	*validatingpolicy.Plugin
	kind *policyKind
}

var _ admission.ValidationInterface = &validatingPolicies{}

// ValidateInitialization starts the plugin, or leaves that to when the kind is served.
func (p *validatingPolicies) ValidateInitialization() error {
	return p.kind.start(p.Plugin.ValidateInitialization)
}

// Validate asks the policies of the cluster.
func (p *validatingPolicies) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.kind.isServed.Load() {
		return nil
	}
	return p.Plugin.Validate(ctx, a, o)
}

// mutatingPolicies is the plugin for MutatingAdmissionPolicies once the cluster serves them.
type mutatingPolicies struct {
	*mutatingpolicy.Plugin
	kind *policyKind
}

var _ admission.MutationInterface = &mutatingPolicies{}

// ValidateInitialization starts the plugin, or leaves that to when the kind is served.
func (p *mutatingPolicies) ValidateInitialization() error {
	return p.kind.start(p.Plugin.ValidateInitialization)
}

// Admit applies the policies of the cluster.
func (p *mutatingPolicies) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.kind.isServed.Load() {
		return nil
	}
	return p.Plugin.Admit(ctx, a, o)
}

// Find looks for the kinds that the cluster serves before the plugins are initialized, and continues to look for the other ones
// while the server runs.
func (k *Kinds) Find(config *genericapiserver.RecommendedConfig) error {
	served, err := servedPolicyKinds(config.ClientConfig)
	if err != nil {
		return err
	}
	for _, kind := range k.all() {
		kind.isServed.Store(served.Has(kind.resource))
	}
	return config.AddPostStartHook(findingPolicies, func(hook genericapiserver.PostStartHookContext) error {
		if k.waits() {
			go k.await(hook, config, policiesPeriod)
		}
		return nil
	})
}

// await starts the plugins that wait as soon as the cluster serves their kinds, and returns when none waits.
func (k *Kinds) await(ctx context.Context, config *genericapiserver.RecommendedConfig, period time.Duration) {
	logger := klog.FromContext(ctx)
	for _, kind := range k.all() {
		if kind.initialize != nil {
			logger.Info("The cluster does not serve a kind of admission policies, looking for it again", "resource", kind.resource, "period", period)
		}
	}
	_ = wait.PollUntilContextCancel(ctx, period, false, func(context.Context) (bool, error) {
		served, err := servedPolicyKinds(config.ClientConfig)
		if err != nil {
			logger.V(2).Info("Looking for kinds of admission policies failed", "err", err)
			return false, nil
		}
		for _, kind := range k.all() {
			if kind.initialize == nil || !served.Has(kind.resource) {
				continue
			}
			if err := kind.initialize(); err != nil {
				logger.Error(err, "Starting admission policies failed, will be tried again", "resource", kind.resource)
				continue
			}
			config.SharedInformerFactory.StartWithContext(ctx)
			kind.initialize = nil
			kind.isServed.Store(true)
			logger.Info("The cluster serves a kind of admission policies now, which are enforced from now on", "resource", kind.resource)
		}
		return !k.waits(), nil
	})
}

// waits returns whether a plugin is not started.
func (k *Kinds) waits() bool {
	for _, kind := range k.all() {
		if kind.initialize != nil {
			return true
		}
	}
	return false
}

// servedPolicyKinds returns what the cluster serves of the API group that admission policies are in.
func servedPolicyKinds(config *rest.Config) (sets.Set[string], error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	groupVersion := admissionregistrationv1.SchemeGroupVersion.String()
	resources, err := client.ServerResourcesForGroupVersion(groupVersion)
	if err != nil {
		return nil, fmt.Errorf("discovering which resources of %s the cluster serves: %w", groupVersion, err)
	}
	served := sets.New[string]()
	for _, resource := range resources.APIResources {
		served.Insert(resource.Name)
	}
	return served, nil
}
