// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

// controllerMetrics is what the controller counts and measures.
type controllerMetrics struct {
	*reconciler.Metrics
	debuggers *reconciler.ReadinessCollector
}

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := &controllerMetrics{Metrics: reconciler.NewMetrics(Name, noun), debuggers: reconciler.NewReadinessCollector(Name, "poddebuggers")}
	m.Register(legacyregistry.MustRegister)
	legacyregistry.CustomMustRegister(m.debuggers)
	return m
})

// conditionsOfDebuggers lists the conditions of the lister's PodDebuggers.
func conditionsOfDebuggers(lister modellisters.PodDebuggerLister) reconciler.ListConditions {
	return reconciler.ConditionsOf(lister.List, func(debugger *modelv1.PodDebugger) []metav1.Condition { return debugger.Status.Conditions })
}
