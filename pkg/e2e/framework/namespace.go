// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// Namespace is a namespace of a test, with clients for its objects. An error in one of its methods fails the test.
type Namespace struct {
	T *testing.T
	// Ctx is done when the test ends.
	Ctx          context.Context
	ControlPlane *ControlPlane
	Name         string

	Boxes       modelclient.ModelBoxInterface
	Deployments appsclient.DeploymentInterface
	Services    coreclient.ServiceInterface
	ConfigMaps  coreclient.ConfigMapInterface
	Claims      coreclient.PersistentVolumeClaimInterface
	Pods        coreclient.PodInterface

	Kubectl Kubectl
	Events  Events
	Audit   Audit
}

// NewNamespace creates a namespace in the shared control plane. At the end of the test, it is deleted, or at least its boxes and
// stacks are.
func NewNamespace(t *testing.T) *Namespace {
	t.Helper()
	shared.awaitDiscovery(t)
	return shared.NewNamespace(t)
}

// NewNamespace creates a namespace in this control plane. At the end of the test, it is deleted, or at least its boxes and stacks are.
func (p *ControlPlane) NewNamespace(t *testing.T) *Namespace {
	t.Helper()
	created, err := p.KubeClient.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	n := p.Namespace(t, created.Name)
	t.Cleanup(func() {
		// The context of the test is already done.
		ctx := context.WithoutCancel(n.Ctx)
		if t.Failed() {
			t.Logf("what is in namespace %s:\n%s", n.Name, n.contents(ctx))
		}
		p.retire(ctx, n)
	})
	return n
}

// retire deletes the namespace at the end of its test. For each deletion, the controller manager requests the objects of 70 kinds, which
// is as much work for the control plane as a small test. Therefore a temporary control plane keeps the namespaces, and only loses what
// would cause work.
func (p *ControlPlane) retire(ctx context.Context, n *Namespace) {
	switch {
	case p.test == n.T: // stopped next
	case p.isTemporary:
		_ = p.ModelClient.ModelV1().ModelStacks(n.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		_ = n.Boxes.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	default:
		_ = p.KubeClient.CoreV1().Namespaces().Delete(ctx, n.Name, metav1.DeleteOptions{})
	}
}

// Namespace returns an existing namespace. It is not deleted at the end of the test.
func (p *ControlPlane) Namespace(t *testing.T, name string) *Namespace {
	return (&Namespace{
		ControlPlane: p,
		Name:         name,
		Boxes:        p.ModelClient.ModelV1().ModelBoxes(name),
		Deployments:  p.KubeClient.AppsV1().Deployments(name),
		Services:     p.KubeClient.CoreV1().Services(name),
		ConfigMaps:   p.KubeClient.CoreV1().ConfigMaps(name),
		Claims:       p.KubeClient.CoreV1().PersistentVolumeClaims(name),
		Pods:         p.KubeClient.CoreV1().Pods(name),
	}).In(t)
}

// In returns the namespace for a subtest. Errors then fail the subtest.
func (n *Namespace) In(t *testing.T) *Namespace {
	in := *n
	in.T, in.Ctx = t, t.Context()
	in.Kubectl, in.Events, in.Audit = Kubectl{&in}, Events{&in}, Audit{&in}
	return &in
}

// Eventually is Eventually with the usual Patience.
func (n *Namespace) Eventually(what string, check func() error) {
	n.T.Helper()
	Eventually(n.T, Patience, what, check)
}

// maxContents limits the output of a test with many boxes, so that it does not hide the failure.
const maxContents = 10_000

// contents returns the objects of the namespace, for the output of a failed test.
func (n *Namespace) contents(ctx context.Context) string {
	var text strings.Builder
	for _, kinds := range []string{"modelboxes,deployments,services,pods,persistentvolumeclaims", "events"} {
		run := RunKubectl(n.ControlPlane.KubectlCommand(ctx, "--namespace="+n.Name, "get", kinds, "--output=wide"), "")
		fmt.Fprintf(&text, "%s%s\n", run.Stdout, run.Stderr)
	}
	if text.Len() > maxContents {
		return text.String()[:maxContents] + "…"
	}
	return text.String()
}
