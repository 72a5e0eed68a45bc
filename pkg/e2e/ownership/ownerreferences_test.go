// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestForgedOwnerReferencesDeleteNothing gives Services controller references with the UID of a box that are otherwise
// wrong. The garbage collector removes such references, and the server must not delete the objects with them.
func TestForgedOwnerReferencesDeleteNothing(t *testing.T) {
	t.Parallel()
	n, other := framework.NewNamespace(t), framework.NewNamespace(t)
	box := n.CreateReadyBox(framework.NewBox("web"))

	reference := func(change func(*metav1.OwnerReference)) metav1.OwnerReference {
		reference := *metav1.NewControllerRef(box, modelv1.SchemeGroupVersion.WithKind("ModelBox"))
		reference.BlockOwnerDeletion = nil
		change(&reference)
		return reference
	}
	none := func(*metav1.OwnerReference) {}
	type forgery struct {
		n         *framework.Namespace
		name      string
		reference metav1.OwnerReference
	}
	forgeries := []forgery{
		{n, "of-another-name", reference(func(r *metav1.OwnerReference) { r.Name = "other" })},
		{n, "of-another-kind", reference(func(r *metav1.OwnerReference) { r.APIVersion, r.Kind = "v1", "ConfigMap" })},
		{n, "of-another-group", reference(func(r *metav1.OwnerReference) { r.APIVersion = "example.com/v1" })},
		{other, "of-another-namespace", reference(none)},
		{other, "web", reference(none)},
	}
	for _, f := range forgeries {
		forgeService(f.n, f.name, f.reference)
	}

	// The box and its own Service still exist.
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	n.UpdateBox("web", framework.WithPorts())
	n.Eventually("the Service of the box is pruned", func() error {
		_, err := n.Services.Get(n.Ctx, "web", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	n.AwaitReady("web")

	for _, f := range forgeries {
		expectNotDeletedByServer(f.n, f.name)
		if _, err := f.n.Services.Get(n.Ctx, f.name, metav1.GetOptions{}); err != nil {
			t.Errorf("Service %s in namespace %s: %v", f.name, f.n.Name, err)
		}
	}
}

// forgeService creates a Service that looks like a child and has the reference. It also has a reference to an existing owner,
// because the garbage collector would otherwise delete it.
func forgeService(n *framework.Namespace, name string, reference metav1.OwnerReference) {
	n.T.Helper()
	keeper, err := n.ControlPlane.KubeClient.CoreV1().ConfigMaps(n.Name).Create(n.Ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keeper-of-" + name}}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	_, err = n.Services.Create(n.Ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "modelbox-apiserver", "modelbox": "web"},
			OwnerReferences: []metav1.OwnerReference{
				reference,
				{APIVersion: "v1", Kind: "ConfigMap", Name: keeper.Name, UID: keeper.UID},
			},
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
}

// expectNotDeletedByServer expects no request of the server to delete the object, successful or not.
func expectNotDeletedByServer(n *framework.Namespace, name string) {
	n.T.Helper()
	for _, request := range framework.ReadWrites(n.T, n.ControlPlane.ClusterAuditLog(), n.Name) {
		if request.User.Username == framework.ServerUser && request.Verb == "delete" && request.ObjectRef.Name == name {
			n.T.Errorf("the server was to delete %s: %v", name, request.ResponseStatus)
		}
	}
}
