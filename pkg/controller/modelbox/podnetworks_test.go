// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func attachedTo(status string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"k8s.v1.cni.cncf.io/network-status": status}
	}
}

func TestPodNetworks(t *testing.T) {
	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		want []modelv1.PodNetwork
	}{
		{"pods without networks", []*corev1.Pod{newPod("web-1")}, nil},
		{"an annotation that cannot be read", []*corev1.Pod{newPod("web-1", attachedTo("net1"))}, nil},
		{"networks of the namespace and of another", []*corev1.Pod{
			newPod("web-1", attachedTo(`[{"name":"default/lan","interface":"net1","ips":["10.1.0.2","2001:db8::2/64"],"mac":"9e:0c:d9:b2:f0:a6"},{"name":"shop/wan"}]`)),
			newPod("web-2", attachedTo(`[{"name":"lan","interface":"net1","ips":["10.1.0.3"]}]`)),
		}, []modelv1.PodNetwork{
			{Pod: "web-1", Network: "lan", Interface: "net1", Addresses: []string{"10.1.0.2", "2001:db8::2"}, MAC: "9e:0c:d9:b2:f0:a6"},
			{Pod: "web-1", Network: "shop/wan"},
			{Pod: "web-2", Network: "lan", Interface: "net1", Addresses: []string{"10.1.0.3"}},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, status.PodNetworks(row.pods)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadyTellsOfNetworksWithoutPods(t *testing.T) {
	inLAN := newPod("web-1", attachedTo(`[{"name":"default/lan","interface":"net1"}]`))
	for _, row := range []struct {
		name     string
		networks []string
		pods     []*corev1.Pod
		want     string
	}{
		{"a box without networks", nil, []*corev1.Pod{newPod("web-1")}, ""},
		{"pods in every network", []string{"lan"}, []*corev1.Pod{inLAN, newPod("web-2")}, ""},
		{"pods in one of two", []string{"lan", "wan"}, []*corev1.Pod{inLAN}, "; no pod has an interface in the networks wan"},
		{"pods in none", []string{"lan", "wan"}, []*corev1.Pod{newPod("web-1")}, "; no pod has an interface in the networks lan, wan"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Networks = row.networks })
			observed := &status.Observation{Workload: workloadOf(completeDeployment()), Pods: row.pods}
			ready := meta.FindStatusCondition(status.ConditionsOf(box, observed), modelv1.ConditionReady)
			check(t, "status", metav1.ConditionTrue, ready.Status)
			check(t, "message", "2 of 2 replicas are available"+row.want, ready.Message)
		})
	}
}

func TestStatusListsTheNetworksOfTheNamedPodsOnly(t *testing.T) {
	var pods []*corev1.Pod
	for i := range modelv1.MaxPodNames + 1 {
		pods = append(pods, newPod(fmt.Sprintf("web-%03d", i), attachedTo(`[{"name":"lan"}]`)))
	}
	status := status.Of(fixture.WebBox(t), &status.Observation{Pods: pods})
	if got := len(status.PodNetworks); got != modelv1.MaxPodNames || status.PodNamesOmitted != 1 {
		t.Errorf("%d networks of pods are listed, and %d names of pods omitted", got, status.PodNamesOmitted)
	}
}
