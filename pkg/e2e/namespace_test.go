// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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

// namespace is a test's own. It is deleted when the test ends.
type namespace struct {
	t     *testing.T
	ctx   context.Context
	plane *controlPlane
	name  string

	boxes       modelclient.ModelBoxInterface
	deployments appsclient.DeploymentInterface
	services    coreclient.ServiceInterface
	pods        coreclient.PodInterface
}

// newNamespace is one of the control plane that all tests share.
func newNamespace(t *testing.T) *namespace {
	t.Helper()
	return plane.newNamespace(t)
}

func (p *controlPlane) newNamespace(t *testing.T) *namespace {
	t.Helper()
	created, err := p.kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	n := &namespace{
		t:           t,
		ctx:         t.Context(),
		plane:       p,
		name:        created.Name,
		boxes:       p.boxes.ModelV1().ModelBoxes(created.Name),
		deployments: p.kube.AppsV1().Deployments(created.Name),
		services:    p.kube.CoreV1().Services(created.Name),
		pods:        p.kube.CoreV1().Pods(created.Name),
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx := context.WithoutCancel(n.ctx)
		if t.Failed() {
			t.Logf("what is in namespace %s:\n%s", n.name, n.contents(ctx))
		}
		_ = p.kube.CoreV1().Namespaces().Delete(ctx, n.name, metav1.DeleteOptions{})
	})
	return n
}

// in is the namespace for a subtest: what fails fails that.
func (n *namespace) in(t *testing.T) *namespace {
	copied := *n
	copied.t, copied.ctx = t, t.Context()
	return &copied
}

// eventually is eventually with the usual patience.
func (n *namespace) eventually(what string, check func() error) {
	n.t.Helper()
	eventually(n.t, patience, what, check)
}

// maxContents keeps a test with many boxes from hiding what failed.
const maxContents = 10_000

// contents is for the reader of a test that failed.
func (n *namespace) contents(ctx context.Context) string {
	var text strings.Builder
	for _, kinds := range []string{"modelboxes,deployments,services,pods", "events"} {
		run := runKubectl(n.plane.kubectlCommand(ctx, "--namespace="+n.name, "get", kinds, "--output=wide"), "")
		fmt.Fprintf(&text, "%s%s\n", run.stdout, run.stderr)
	}
	if text.Len() > maxContents {
		return text.String()[:maxContents] + "…"
	}
	return text.String()
}
