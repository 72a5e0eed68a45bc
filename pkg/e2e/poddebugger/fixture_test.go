// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// newNamespace returns a namespace of a cluster in which the server has the permission to add ephemeral containers.
func newNamespace(t *testing.T) *framework.Namespace {
	t.Helper()
	framework.SharedControlPlane().GrantPodDebugger(t)
	return framework.NewNamespace(t)
}

// createPods creates pods with the label app that comply with the Pod Security Standard restricted.
func createPods(n *framework.Namespace, app string, names ...string) {
	n.T.Helper()
	for _, name := range names {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
			Spec: corev1.PodSpec{
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000),
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				Containers: []corev1.Container{{Name: "web", Image: "nginx:1.7.9", SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				}}},
			},
		}
		n.Eventually("pod "+name+" is created", func() error { // the ServiceAccount of a new namespace takes a moment
			_, err := n.Pods.Create(n.Ctx, pod, metav1.CreateOptions{})
			return err
		})
	}
}

// ephemeralContainers returns the names of the ephemeral containers of the pod.
func ephemeralContainers(n *framework.Namespace, pod string) []string {
	n.T.Helper()
	live, err := n.Pods.Get(n.Ctx, pod, metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	names := []string{}
	for i := range live.Spec.EphemeralContainers {
		names = append(names, live.Spec.EphemeralContainers[i].Name)
	}
	slices.Sort(names)
	return names
}

// awaitContainers waits until the pod has exactly these ephemeral containers.
func awaitContainers(n *framework.Namespace, pod string, want ...string) {
	n.T.Helper()
	slices.Sort(want)
	n.Eventually(fmt.Sprintf("pod %s has the containers %q", pod, want), func() error {
		if got := ephemeralContainers(n, pod); !slices.Equal(got, want) {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

// expectContainers checks the ephemeral containers of the pod.
func expectContainers(n *framework.Namespace, pod string, want ...string) {
	n.T.Helper()
	slices.Sort(want)
	framework.ExpectEqual(n.T, "the ephemeral containers of pod "+pod, append([]string{}, want...), ephemeralContainers(n, pod))
}

// patches returns the number of attempts of the server to add an ephemeral container to the pod.
func patches(n *framework.Namespace, pod string) int {
	n.T.Helper()
	count := 0
	for _, write := range n.Audit.ClusterWrites() {
		if write.ObjectRef.Resource == "pods" && write.ObjectRef.Subresource == "ephemeralcontainers" && write.ObjectRef.Name == pod {
			count++
		}
	}
	return count
}

var errStillThere = errors.New("it is still there")
