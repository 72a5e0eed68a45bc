// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestMissingVolumesAreTold: a pod only says that it is being created, and its kubelet why it is not. A simulated node has
// no kubelet to say so.
func TestMissingVolumesAreTold(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	pod, err := n.pods.Get(n.ctx, n.box("web").Status.PodNames[0], metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.holdBack(pod)

	const missing = `MountVolume.SetUp failed for volume "config" : configmap "missing" not found`
	recorded := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: n.name, Name: pod.Name, UID: pod.UID},
		Source:         corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		Type:           corev1.EventTypeWarning,
		Reason:         "FailedMount",
		Message:        missing,
		FirstTimestamp: metav1.Now(),
		LastTimestamp:  metav1.Now(),
		Count:          1,
	}
	if _, err := plane.kube.CoreV1().Events(n.name).Create(n.ctx, recorded, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.awaitFailing("web", "FailedMount", []string{"pod " + pod.Name, missing})
	n.awaitEvent("web", "FailedMount", missing)

	n.kubectl("delete", "pod", pod.Name)
	n.awaitReady("web")
}

// holdBack lets the pod be one whose containers are being created. Its simulated node leaves pods alone that it has
// started.
func (n *namespace) holdBack(pod *corev1.Pod) {
	n.t.Helper()
	status := `{"status": {"phase": "Pending", "conditions": [` +
		`{"type": "Ready", "status": "False", "reason": "ContainersNotReady"},` +
		`{"type": "ContainersReady", "status": "False", "reason": "ContainersNotReady"}],` +
		`"containerStatuses": [{"name": "web", "image": "nginx:1.7.9", "imageID": "", "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "ContainerCreating"}}}]}}`
	if _, err := n.pods.Patch(n.ctx, pod.Name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		n.t.Fatal(err)
	}
}
