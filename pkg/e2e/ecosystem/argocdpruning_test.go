// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// pruneBoxes removes boxes from the repository, and then deletes the Application with its objects.
func pruneBoxes(argo *argoCD, n *framework.Namespace) {
	n.CreateVolumeFor("database-data")
	files := map[string]string{"web": framework.BoxManifest("web", webSpec), "database": framework.BoxManifest("database", storageSpec)}
	a := argo.newApplication(n, applicationOptions{automated: true}, files)
	a.awaitHealthy()
	claim := n.AwaitBoundClaim("database-data")
	delete(files, "database")
	a.commit(files)
	a.awaitHealthy()
	n.ExpectNoBox("database")
	n.Eventually("the children of the box are gone", func() error {
		_, err := n.Deployments.Get(n.Ctx, "database", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	expectSameClaim(n, claim)

	a.patch(map[string]any{"metadata": map[string]any{"finalizers": []string{"resources-finalizer.argocd.argoproj.io"}}})
	if err := a.client().Delete(n.Ctx, a.name, metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Eventually("the Application is gone", func() error {
		_, err := a.client().Get(n.Ctx, a.name, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	n.ExpectNoBox("web")
	expectSameClaim(n, claim)
}

// expectSameClaim checks that a claim exists and is not being deleted.
func expectSameClaim(n *framework.Namespace, want *corev1.PersistentVolumeClaim) {
	n.T.Helper()
	claim, err := n.Claims.Get(n.Ctx, want.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		n.T.Error(err)
	case claim.UID != want.UID:
		n.T.Errorf("claim %s has the UID %s, before it was %s", want.Name, claim.UID, want.UID)
	case claim.DeletionTimestamp != nil:
		n.T.Errorf("claim %s is being deleted", want.Name)
	}
}

// trackByLabel does what docs/ecosystem.md warns of.
func trackByLabel(argo *argoCD, n *framework.Namespace) {
	trackBy(n, n.Ctx, `"label"`)
	n.T.Cleanup(func() { trackBy(n, context.WithoutCancel(n.Ctx), "null") })
	n.CreateVolumeFor("database-data")
	a := argo.newApplication(n, applicationOptions{name: "database"}, map[string]string{"database": framework.BoxManifest("database", storageSpec)})
	a.sync()
	n.AwaitReady("database")
	a.awaitResource("PersistentVolumeClaim", "database-data", "OutOfSync", "Healthy")
	a.sync()
	n.AwaitClaim("database-data", "is being deleted", func(claim *corev1.PersistentVolumeClaim) error {
		if claim.DeletionTimestamp == nil {
			return errors.New("it is not")
		}
		return nil
	})
}

// trackBy sets how Argo CD tracks objects.
func trackBy(n *framework.Namespace, ctx context.Context, method string) {
	n.T.Helper()
	patch := fmt.Sprintf(`{"data": {"application.resourceTrackingMethod": %s}}`, method)
	command := n.ControlPlane.KubectlCommand(ctx, "--namespace=argocd", "patch", "configmap", "argocd-cm", "--type=merge", "--patch="+patch)
	run := framework.RunKubectl(command, "")
	if run.Err != nil {
		n.T.Errorf("%v: %s", run.Err, run.Stderr)
	}
}
