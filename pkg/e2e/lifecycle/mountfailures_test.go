// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestMissingVolumeIsReported checks that the message is from the events of the kubelet, because the status of the pod only says
// ContainerCreating. The test creates the events, because a simulated node has no kubelet.
func TestMissingVolumeIsReported(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	pod, err := n.Pods.Get(n.Ctx, n.GetBox("web").Status.PodNames[0], metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holdBack(n, pod)

	const missing = `MountVolume.SetUp failed for volume "config" : configmap "missing" not found`
	recorded := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: n.Name, Name: pod.Name, UID: pod.UID},
		Source:         corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		Type:           corev1.EventTypeWarning,
		Reason:         "FailedMount",
		Message:        missing,
		FirstTimestamp: metav1.Now(),
		LastTimestamp:  metav1.Now(),
		Count:          1,
	}
	if _, err := n.ControlPlane.KubeClient.CoreV1().Events(n.Name).Create(n.Ctx, recorded, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitFailing(n, "web", "FailedMount", []string{"pod " + pod.Name, missing})
	n.Events.Await("web", "FailedMount", missing)

	n.Kubectl.Run("delete", "pod", pod.Name)
	n.AwaitReady("web")
}

// holdBack sets the status of the pod to ContainerCreating. Its simulated node does not change pods that it has started.
func holdBack(n *framework.Namespace, pod *corev1.Pod) {
	n.T.Helper()
	status := `{"status": {"phase": "Pending", "conditions": [` +
		`{"type": "Ready", "status": "False", "reason": "ContainersNotReady"},` +
		`{"type": "ContainersReady", "status": "False", "reason": "ContainersNotReady"}],` +
		`"containerStatuses": [{"name": "web", "image": "nginx:1.7.9", "imageID": "", "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "ContainerCreating"}}}]}}`
	if _, err := n.Pods.Patch(n.Ctx, pod.Name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		n.T.Fatal(err)
	}
}
