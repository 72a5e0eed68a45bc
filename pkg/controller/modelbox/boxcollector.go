// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

var boxesDesc = metrics.NewDesc(
	metrics.BuildFQName("", Name+"_controller", "boxes"),
	"Number of boxes by the status of their condition Ready: true, false, or unknown where there is none yet. Only the leader has it.",
	[]string{"ready"}, nil, metrics.ALPHA, "")

// boxCollector counts boxes whenever metrics are read, and nothing while it has no lister: a process that does not
// lead does not know them.
type boxCollector struct {
	metrics.BaseStableCollector
	lister atomic.Pointer[modellisters.ModelBoxLister]
}

// show counts the boxes of the lister from now on.
func (c *boxCollector) show(lister modellisters.ModelBoxLister) { c.lister.Store(&lister) }

// hide counts no boxes any more.
func (c *boxCollector) hide() { c.lister.Store(nil) }

// DescribeWithStability implements metrics.StableCollector.
func (c *boxCollector) DescribeWithStability(ch chan<- *metrics.Desc) { ch <- boxesDesc }

// CollectWithStability implements metrics.StableCollector.
func (c *boxCollector) CollectWithStability(ch chan<- metrics.Metric) {
	lister := c.lister.Load()
	if lister == nil {
		return
	}
	boxes, err := (*lister).List(labels.Everything())
	if err != nil {
		klog.Background().Error(err, "Listing the boxes to count")
		return
	}
	count := map[string]int{"true": 0, "false": 0, "unknown": 0}
	for _, box := range boxes {
		count[readiness(box)]++
	}
	for ready, boxes := range count {
		ch <- metrics.NewLazyConstMetric(boxesDesc, metrics.GaugeValue, float64(boxes), ready)
	}
}

func readiness(box *modelv1.ModelBox) string {
	switch {
	case meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionReady):
		return "true"
	case meta.IsStatusConditionFalse(box.Status.Conditions, modelv1.ConditionReady):
		return "false"
	default:
		return "unknown"
	}
}
