// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

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
	networks *reconciler.ReadinessCollector
}

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := &controllerMetrics{Metrics: reconciler.NewMetrics(Name, noun), networks: reconciler.NewReadinessCollector(Name, "networks")}
	m.Register(legacyregistry.MustRegister)
	legacyregistry.CustomMustRegister(m.networks)
	return m
})

// conditionsOfNetworks lists the conditions of the lister's networks.
func conditionsOfNetworks(lister modellisters.NetworkLister) reconciler.ListConditions {
	return reconciler.ConditionsOf(lister.List, func(network *modelv1.Network) []metav1.Condition { return network.Status.Conditions })
}
