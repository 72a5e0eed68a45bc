// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

// controllerMetrics is what the controller counts and measures.
type controllerMetrics struct {
	*reconciler.Metrics
	stacks *reconciler.ReadinessCollector
}

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := newControllerMetrics()
	m.register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
	return m
})

func newControllerMetrics() *controllerMetrics {
	return &controllerMetrics{Metrics: reconciler.NewMetrics(Name, noun), stacks: reconciler.NewReadinessCollector(Name, "stacks")}
}

func (m *controllerMetrics) register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	m.Register(register)
	registerCustom(m.stacks)
}

// conditionsOfStacks lists the conditions of the lister's stacks.
func conditionsOfStacks(lister modellisters.ModelStackLister) reconciler.ListConditions {
	return reconciler.ConditionsOf(lister.List, func(stack *modelv1.ModelStack) []metav1.Condition { return stack.Status.Conditions })
}
