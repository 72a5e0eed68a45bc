// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestEarlierPodsAreNotReady(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(name, hash string, second time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name:              name,
			Labels:            map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash},
			CreationTimestamp: metav1.NewTime(begin.Add(second * time.Second)),
		}}
	}
	old1, old2 := pod("web-aaa-1", "aaa", 0), pod("web-aaa-2", "aaa", 1)
	new1, new2 := pod("web-bbb-1", "bbb", 2), pod("web-bbb-2", "bbb", 3)
	stopped := func(d *appsv1.Deployment) {
		d.Spec.Replicas = ptr.To[int32](0)
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: 5}
	}
	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		with func(*appsv1.Deployment)
		want int32
	}{
		{"none", nil, nil, 0},
		{"its own", []*corev1.Pod{new1, new2}, nil, 0},
		{"one of before", []*corev1.Pod{old1, new1, new2}, nil, 1},
		{"some of before", []*corev1.Pod{new1, old1, new2, old2}, nil, 2},
		{"of a Deployment whose name begins the same", []*corev1.Pod{new1, pod("web-api-aaa-1", "aaa", 0), pod("webs-aaa-1", "aaa", 0)}, nil, 0},
		{"of no workload", []*corev1.Pod{new1, pod("web-1", "", 0)}, nil, 0},
		{"its own although it is to have none", []*corev1.Pod{new1, new2}, stopped, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			deployment := completeDeployment()
			if row.with != nil {
				row.with(deployment)
			}
			observed := &status.Observation{Workload: kinds.AsWorkload(deployment)}
			observed.Pods = row.pods
			if got := observed.Workload.EarlierPods(observed.Pods); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
			ready := meta.FindStatusCondition(status.ConditionsOf(fixture.WebBox(t), observed), modelv1.ConditionReady)
			if isReady := ready.Status == metav1.ConditionTrue; isReady != (row.want == 0) {
				t.Errorf("Ready is %s, %s: %s", ready.Status, ready.Reason, ready.Message)
			}
		})
	}
}
