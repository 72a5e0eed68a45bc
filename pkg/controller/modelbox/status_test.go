// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestStatus(t *testing.T) {
	// The status of webBox, whatever is observed.
	always := modelv1.ModelBoxStatus{ObservedGeneration: 3, Selector: "modelbox=web"}
	with := func(change func(*modelv1.ModelBoxStatus)) modelv1.ModelBoxStatus {
		status := always
		change(&status)
		return status
	}
	for _, row := range []struct {
		name     string
		observed *status.Observation
		want     modelv1.ModelBoxStatus
	}{
		{"nothing is there yet", &status.Observation{}, always},
		{"the replicas are the Deployment's", &status.Observation{Workload: kinds.AsWorkload(completeDeployment(func(d *appsv1.Deployment) {
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 4, 3, 2, 1
		}))}, with(func(s *modelv1.ModelBoxStatus) {
			s.DesiredReplicas = ptr.To[int32](2)
			s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas = 4, 3, 2, 1
		})},
		{"the pods have names", &status.Observation{Pods: []*corev1.Pod{newPod("web-a"), newPod("web-b")}},
			with(func(s *modelv1.ModelBoxStatus) { s.PodNames = []string{"web-a", "web-b"} })},
		{"the address has the first port, the node ports are the allocated ones", &status.Observation{Service: fixture.LiveService(t)},
			with(func(s *modelv1.ModelBoxStatus) {
				s.Address = "web.default.svc:80"
				s.NodePorts = []modelv1.NodePort{{Port: 80, Protocol: "UDP", NodePort: 31234}, {Port: 80, Protocol: "TCP", NodePort: 30010}}
			})},
		{"a Service without node ports", &status.Observation{Service: fixture.LiveService(t, func(s *corev1.Service) {
			for i := range s.Spec.Ports {
				s.Spec.Ports[i].NodePort = 0
			}
		})}, with(func(s *modelv1.ModelBoxStatus) { s.Address = "web.default.svc:80" })},
		{"a Service without ports has no address", &status.Observation{Service: fixture.LiveService(t, func(s *corev1.Service) { s.Spec.Ports = nil })}, always},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := status.Of(fixture.WebBox(t), row.observed)
			if len(got.Conditions) == 0 {
				t.Error("there are no conditions")
			}
			got.Conditions = nil
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStatusNamesPodsUpToALimit(t *testing.T) {
	for _, row := range []struct {
		pods, named int
		omitted     int32
	}{
		{99, 99, 0},
		{100, 100, 0},
		{101, 100, 1},
		{250, 100, 150},
	} {
		t.Run(fmt.Sprint(row.pods), func(t *testing.T) {
			observed := &status.Observation{}
			for i := range row.pods {
				observed.Pods = append(observed.Pods, newPod(fmt.Sprintf("web-%03d", i)))
			}
			status := status.Of(fixture.WebBox(t), observed)
			if len(status.PodNames) != row.named || status.PodNamesOmitted != row.omitted {
				t.Errorf("got %d names and %d omitted, want %d and %d", len(status.PodNames), status.PodNamesOmitted, row.named, row.omitted)
			}
			if first := status.PodNames[0]; first != "web-000" {
				t.Errorf("the first name is %s", first)
			}
		})
	}
}

// The values of an older spec may not survive in the status of this one.
func TestStatusDoesNotKeepWhatHasGone(t *testing.T) {
	box := fixture.WebBox(t)
	box.Status = modelv1.ModelBoxStatus{
		ObservedGeneration: 2, Replicas: 9, PodNames: []string{"gone"}, PodNamesOmitted: 3, Address: "old",
		NodePorts: []modelv1.NodePort{{Port: 1, Protocol: "TCP", NodePort: 30000}},
	}
	got := status.Of(box, &status.Observation{})
	got.Conditions = nil
	want := modelv1.ModelBoxStatus{ObservedGeneration: 3, Selector: "modelbox=web"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
