// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ephemeralcontainer

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func ephemeralContainer(name string) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox"}, TargetContainerName: "web"}
}

func TestAddKeepsTheOtherContainers(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "first"}}
	pod.Spec.Containers = []corev1.Container{{Name: "web"}}
	client := fake.NewClientset(pod)
	containers := []corev1.EphemeralContainer{ephemeralContainer("debugger-c"), ephemeralContainer("debugger-b"), ephemeralContainer("debugger-a")}
	last := pod
	for i, known := range []func() *corev1.Pod{
		func() *corev1.Pod { return pod },
		func() *corev1.Pod { return last },
		func() *corev1.Pod { return pod }, // as it was before another client added its container
	} {
		var err error
		if last, err = Add(t.Context(), client.CoreV1(), known(), &containers[i], metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if diff := cmp.Diff(containers[:2], last.Spec.EphemeralContainers); diff != "" {
				t.Errorf("the containers, the last one last (-want +got):\n%s", diff)
			}
		}
	}
	byName := cmpopts.SortSlices(func(a, b corev1.EphemeralContainer) bool { return a.Name < b.Name })
	want := pod.DeepCopy()
	want.Spec.EphemeralContainers = containers
	if diff := cmp.Diff(want.Spec, last.Spec, byName); diff != "" {
		t.Errorf("the pod (-want +got):\n%s", diff)
	}
	patch := client.Actions()[0].(clienttesting.PatchAction)
	if patch.GetSubresource() != Subresource {
		t.Errorf("it patches pods/%s", patch.GetSubresource())
	}
	const wantPatch = `{"metadata":{"uid":"first"},"spec":{"$setElementOrder/ephemeralContainers":[{"name":"debugger-c"}],` +
		`"ephemeralContainers":[{"name":"debugger-c","image":"busybox","resources":{},"targetContainerName":"web"}]}}`
	if diff := cmp.Diff(wantPatch, string(patch.GetPatch())); diff != "" {
		t.Errorf("the patch (-want +got):\n%s", diff)
	}
}

func TestAddReturnsTheErrorOfTheCluster(t *testing.T) {
	client := fake.NewClientset()
	refusal := apierrors.NewForbidden(corev1.Resource("pods"), "web-1", errors.New(`violates PodSecurity "restricted:latest"`))
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	container := ephemeralContainer("debugger")
	_, err := Add(t.Context(), client.CoreV1(), &corev1.Pod{}, &container, metav1.PatchOptions{})
	if err != error(refusal) {
		t.Errorf("got %v, want %v", err, refusal)
	}
}
