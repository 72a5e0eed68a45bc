// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ListConditions calls visit with the conditions of each object of a kind.
type ListConditions func(visit func(conditions []metav1.Condition)) error

// ReadinessCollector counts objects whenever metrics are read, and nothing while it has none to show: a process that does not
// lead does not know them.
type ReadinessCollector struct {
	metrics.BaseStableCollector
	desc *metrics.Desc
	list atomic.Pointer[ListConditions]
}

// newReadinessCollector returns a collector of the controller of that name that shows nothing. The plural is what the objects
// are called.
func newReadinessCollector(controller, plural string) *ReadinessCollector {
	return &ReadinessCollector{desc: metrics.NewDesc(
		metrics.BuildFQName("", controller+"_controller", plural),
		fmt.Sprintf("Number of %s by the status of the condition Ready: true, false, or unknown if they do not have it yet. Only the leader has it.", plural),
		[]string{"ready"}, nil, metrics.ALPHA, "")}
}

// Show counts the objects that list has from now on.
func (c *ReadinessCollector) Show(list ListConditions) { c.list.Store(&list) }

// Hide stops counting objects.
func (c *ReadinessCollector) Hide() { c.list.Store(nil) }

// DescribeWithStability implements metrics.StableCollector.
func (c *ReadinessCollector) DescribeWithStability(ch chan<- *metrics.Desc) { ch <- c.desc }

// CollectWithStability implements metrics.StableCollector.
func (c *ReadinessCollector) CollectWithStability(ch chan<- metrics.Metric) {
	list := c.list.Load()
	if list == nil {
		return
	}
	count := map[string]int{"true": 0, "false": 0, "unknown": 0}
	if err := (*list)(func(conditions []metav1.Condition) { count[readiness(conditions)]++ }); err != nil {
		klog.Background().Error(err, "Listing the objects to count")
		return
	}
	for ready, objects := range count {
		ch <- metrics.NewLazyConstMetric(c.desc, metrics.GaugeValue, float64(objects), ready)
	}
}

func readiness(conditions []metav1.Condition) string {
	switch {
	case meta.IsStatusConditionTrue(conditions, modelv1.ConditionReady):
		return "true"
	case meta.IsStatusConditionFalse(conditions, modelv1.ConditionReady):
		return "false"
	default:
		return "unknown"
	}
}
