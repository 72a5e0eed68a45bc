// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/network"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/poddebugger"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/references"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/serviceingress"
)

// Controller is what every controller implements.
type Controller interface {
	// Name returns the name of its descriptor.
	Name() string
	// Run reconciles until ctx is done. When it returns, the last write is done. It returns an error, before ctx is done,
	// when the controller cannot work: cachehealth.ErrCacheNotSynced when another server may be able to.
	Run(ctx context.Context) error
	// CheckHealth returns why the controller cannot work, nil as long as it may.
	CheckHealth() error
	// HasSynced returns whether every cache has synced that the controller needs.
	HasSynced() bool
}

// Constructor makes a controller of what it shares with others. It does not start it.
type Constructor func(c *Context) (Controller, error)

// Descriptor is what is known of a controller before it is made.
type Descriptor struct {
	name        string
	constructor Constructor
	// isDisabledByDefault has the controller run only where its name is given.
	isDisabledByDefault bool
}

// Name is what the controller is called on the command line, in logs, metrics and health checks.
func (d *Descriptor) Name() string { return d.name }

// NewDescriptors returns all controllers that there are, by their names.
func NewDescriptors() map[string]*Descriptor {
	descriptors := map[string]*Descriptor{}
	for _, descriptor := range []*Descriptor{
		{name: modelbox.Name, constructor: newModelBoxController},
		{name: modelstack.Name, constructor: newModelStackController},
		{name: network.Name, constructor: newNetworkController},
		{name: poddebugger.Name, constructor: newPodDebuggerController},
		{name: references.Name, constructor: newReferencesController},
		{name: serviceingress.Name, constructor: newServiceIngressController, isDisabledByDefault: true},
	} {
		descriptors[descriptor.name] = descriptor
	}
	return descriptors
}

func newModelBoxController(c *Context) (Controller, error) {
	routes, err := kinds.NewRouteInformers(c.GatewayClient)
	if err != nil {
		return nil, err
	}
	c.Informers.AddOptional(routes.HTTPRoutes)
	c.Informers.AddOptional(routes.GRPCRoutes)
	var metrics rollouts.Prometheus // A nil client in it would not be nil.
	if config := c.Configuration.ModelBoxController.Prometheus; config.URL != "" {
		if metrics, err = prometheus.NewClient(config); err != nil {
			return nil, err
		}
	}
	return modelbox.New(modelbox.ControllerParameters{
		ModelClient:      c.ModelClient,
		KubeClient:       c.KubeClient,
		GatewayClient:    c.GatewayClient,
		Boxes:            c.Informers.Model.Model().V1().ModelBoxes(),
		Children:         c.Informers.Children,
		IngressClasses:   c.Informers.Kube.Networking().V1().IngressClasses(),
		Routes:           routes,
		HostCluster:      c.HostCluster,
		Pods:             c.Informers.Pods.Core().V1().Pods(),
		Autoscalers:      c.Informers.Kube.Autoscaling().V2().HorizontalPodAutoscalers(),
		MountFailures:    c.Informers.MountFailures.Events().V1().Events(),
		CreationFailures: c.Informers.CreationFailures.Events().V1().Events(),
		Prometheus:       metrics,
		CacheHealth:      c.Informers.Health,
		Recorder:         c.Recorder,
		Clock:            c.Clock,
		ConcurrentSyncs:  c.Configuration.ModelBoxController.ConcurrentSyncs,
	})
}

func newModelStackController(c *Context) (Controller, error) {
	return modelstack.New(modelstack.ControllerParameters{
		ModelClient:    c.ModelClient,
		KubeClient:     c.KubeClient,
		Stacks:         c.Informers.Model.Model().V1().ModelStacks(),
		Boxes:          c.Informers.Model.Model().V1().ModelBoxes(),
		Services:       c.Informers.Children.Core().V1().Services(),
		EndpointSlices: c.Informers.Children.Discovery().V1().EndpointSlices(),
		Records:        c.Informers.Records.Apps().V1().ControllerRevisions(),
		Autoscalers:    c.Informers.Kube.Autoscaling().V2().HorizontalPodAutoscalers(),
		CacheHealth:    c.Informers.Health,
		Recorder:       c.Recorder,
		Clock:          c.Clock,
	})
}

func newNetworkController(c *Context) (Controller, error) {
	definitions, err := network.NewDefinitionInformer(c.DynamicClient)
	if err != nil {
		return nil, err
	}
	c.Informers.AddOptional(definitions)
	return network.New(network.ControllerParameters{
		ModelClient:   c.ModelClient,
		DynamicClient: c.DynamicClient,
		Networks:      c.Informers.Model.Model().V1().Networks(),
		Boxes:         c.Informers.Model.Model().V1().ModelBoxes(),
		Pods:          c.Informers.Pods.Core().V1().Pods(),
		Definitions:   definitions,
		CacheHealth:   c.Informers.Health,
		Recorder:      c.Recorder,
		Clock:         c.Clock,
	})
}

func newPodDebuggerController(c *Context) (Controller, error) {
	return poddebugger.New(poddebugger.ControllerParameters{
		ModelClient:  c.ModelClient,
		KubeClient:   c.KubeClient,
		PodDebuggers: c.Informers.Model.Model().V1().PodDebuggers(),
		Boxes:        c.Informers.Model.Model().V1().ModelBoxes(),
		CacheHealth:  c.Informers.Health,
		Recorder:     c.Recorder,
		Clock:        c.Clock,
	})
}

func newReferencesController(c *Context) (Controller, error) {
	return references.New(references.ControllerParameters{
		ModelClient:    c.ModelClient,
		KubeClient:     c.KubeClient,
		Boxes:          c.Informers.Model.Model().V1().ModelBoxes(),
		CacheHealth:    c.Informers.Health,
		Recorder:       c.Recorder,
		Clock:          c.Clock,
		RestartRate:    c.Configuration.ReferencesController.RestartRate,
		WatchesSecrets: c.Configuration.ReferencesController.WatchesSecrets,
		KeySecret:      c.Configuration.ReferencesController.KeySecret,
	})
}

func newServiceIngressController(c *Context) (Controller, error) {
	return serviceingress.New(serviceingress.ControllerParameters{
		KubeClient:  c.KubeClient,
		Services:    c.Informers.Kube.Core().V1().Services(),
		Ingresses:   c.Informers.Children.Networking().V1().Ingresses(),
		Boxes:       c.Informers.Model.Model().V1().ModelBoxes(),
		CacheHealth: c.Informers.Health,
		Recorder:    c.Recorder,
		Clock:       c.Clock,
		Defaults:    c.Configuration.ServiceIngressController.Defaults,
	})
}

// KnownControllers returns the names of all controllers, sorted.
func KnownControllers() []string {
	return slices.Sorted(maps.Keys(NewDescriptors()))
}

// ControllersDisabledByDefault returns the names of those that "*" does not enable, sorted.
func ControllersDisabledByDefault() []string {
	return disabledByDefault(NewDescriptors())
}

func disabledByDefault(descriptors map[string]*Descriptor) []string {
	var names []string
	for name, descriptor := range descriptors {
		if descriptor.isDisabledByDefault {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// IsControllerEnabled returns whether a list as Configuration.Controllers enables the controller of that name.
func IsControllerEnabled(name string, disabledByDefault sets.Set[string], controllers []string) bool {
	hasStar := false
	for _, controller := range controllers {
		switch controller {
		case name:
			return true
		case "-" + name:
			return false
		case "*":
			hasStar = true
		}
	}
	return hasStar && !disabledByDefault.Has(name)
}

// EnabledDescriptors returns the descriptors that a list like Configuration.Controllers enables, sorted by name.
func EnabledDescriptors(descriptors map[string]*Descriptor, controllers []string) []*Descriptor {
	disabled := sets.New(disabledByDefault(descriptors)...)
	var enabled []*Descriptor
	for _, name := range slices.Sorted(maps.Keys(descriptors)) {
		if IsControllerEnabled(name, disabled, controllers) {
			enabled = append(enabled, descriptors[name])
		}
	}
	return enabled
}

// BuildControllers makes the controllers of the descriptors.
func BuildControllers(c *Context, descriptors []*Descriptor) ([]Controller, error) {
	controllers := make([]Controller, 0, len(descriptors))
	for _, descriptor := range descriptors {
		controller, err := descriptor.constructor(c)
		if err != nil {
			return nil, fmt.Errorf("creating controller %s: %w", descriptor.name, err)
		}
		controllers = append(controllers, controller)
	}
	return controllers, nil
}
