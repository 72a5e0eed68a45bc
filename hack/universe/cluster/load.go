// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// metricWindow is the time over which a metric is measured.
const metricWindow = 30 * time.Second

// Load is the load of boxes. The ready pods of a box share it. Autoscalers measure it.
type Load struct {
	Store *store.Store

	mu    sync.Mutex
	boxes map[string]int64
}

var _ metrics.MetricsClient = &Load{}

// Set sets the load of the pods of a box, in thousandths of a CPU.
func (l *Load) Set(box string, milli int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.boxes == nil {
		l.boxes = map[string]int64{}
	}
	l.boxes[box] = milli
}

// GetResourceMetric implements metrics.MetricsClient.
func (l *Load) GetResourceMetric(_ context.Context, _ corev1.ResourceName, namespace string, selector labels.Selector, _ string) (metrics.PodMetricsInfo, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ready []*api.Pod
	for _, object := range l.Store.Objects("/pods/" + namespace + "/") {
		if pod := object.(*api.Pod); IsReady(pod) && selector.Matches(labels.Set(pod.Labels)) {
			ready = append(ready, pod)
		}
	}
	if len(ready) == 0 {
		return nil, time.Time{}, errors.New("no pod has metrics")
	}
	now := time.Now()
	info := metrics.PodMetricsInfo{}
	for _, pod := range ready {
		info[pod.Name] = metrics.PodMetric{Timestamp: now, Window: metricWindow, Value: l.boxes[pod.Labels[modelv1.SelectorLabel]] / int64(len(ready))}
	}
	return info, now, nil
}

var errNoMetric = errors.New("the metric is not served")

// GetRawMetric implements metrics.MetricsClient.
func (l *Load) GetRawMetric(string, string, labels.Selector, labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errNoMetric
}

// GetObjectMetric implements metrics.MetricsClient.
func (l *Load) GetObjectMetric(string, string, *autoscaling.CrossVersionObjectReference, labels.Selector) (int64, time.Time, error) {
	return 0, time.Time{}, errNoMetric
}

// GetExternalMetric implements metrics.MetricsClient.
func (l *Load) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return nil, time.Time{}, errNoMetric
}
