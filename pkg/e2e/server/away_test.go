// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestNamespaceIsDeletedOnceServerIsBack deletes a namespace while the server is down. The cluster does not complete the deletion,
// because the namespace may have boxes. It is not parallel, because all tests share the server.
func TestNamespaceIsDeletedOnceServerIsBack(t *testing.T) {
	n := framework.NewNamespace(t)
	server := n.ControlPlane.ServerPID(t)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wake := func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	t.Cleanup(wake)

	namespaces := n.ControlPlane.KubeClient.CoreV1().Namespaces()
	if err := namespaces.Delete(n.Ctx, n.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("the namespace says what it waits for", func() error {
		namespace, err := namespaces.Get(n.Ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range namespace.Status.Conditions {
			isWaiting := condition.Type == corev1.NamespaceDeletionDiscoveryFailure || condition.Type == corev1.NamespaceDeletionContentFailure
			if isWaiting && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return errors.New("it says nothing of the kind")
	})
	wake()
	n.Eventually("the namespace is deleted", func() error {
		_, err := namespaces.Get(n.Ctx, n.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}
