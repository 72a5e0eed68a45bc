// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// forgedOwners loses the data directory while Deployments in another namespace have owners that never existed. The applications in
// all other namespaces are recovered and served. In that namespace, the server refuses requests for two names while the Deployments
// exist.
func (d *disaster) forgedOwners() {
	n := d.ControlPlane.NewNamespace(d.T)
	// While the server runs, the garbage collector deletes the children of these owners.
	forge := func() {
		for _, forged := range []struct{ name, owner, record string }{
			{"impossible", "a%b", ""},
			{"never", "never", ""},
			{"unreadable", "unreadable", "?"},
		} {
			if _, err := n.Deployments.Create(n.Ctx, forgedDeployment(forged.name, forged.owner, forged.record), metav1.CreateOptions{}); err != nil {
				d.T.Fatal(err)
			}
		}
	}
	before := d.state()
	d.replaceStore(func() {
		d.setDataDirAside(".forged")
		forge()
	})
	d.expectRecovered(before, "Empty")

	n.CreateReadyBox(framework.NewBox("web"))
	for _, name := range []string{"never", "unreadable"} {
		if _, err := n.Boxes.Get(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
			d.T.Errorf("reading the absent owner %s: %v", name, err)
		}
		if _, err := n.Boxes.Create(n.Ctx, framework.NewBox(name), metav1.CreateOptions{}); !apierrors.IsServiceUnavailable(err) {
			d.T.Errorf("creating the absent owner %s: %v", name, err)
		}
		if _, err := n.Deployments.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			d.T.Errorf("the Deployment of an absent owner: %v", err)
		}
	}
	if err := n.Deployments.Delete(n.Ctx, "never", metav1.DeleteOptions{}); err != nil {
		d.T.Fatal(err)
	}
	n.Eventually("a box can have the name of an owner that no child names", func() error {
		_, err := n.Boxes.Create(n.Ctx, framework.NewBox("never"), metav1.CreateOptions{})
		return err
	})
	if _, err := n.Boxes.Get(n.Ctx, "unreadable", metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
		d.T.Errorf("reading the other absent owner: %v", err)
	}
}

// forgedDeployment returns a Deployment that looks like the Deployment of a box that does not exist.
func forgedDeployment(name, owner, record string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/managed-by": "modelbox-apiserver", "app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: owner, UID: types.UID(fmt.Sprintf("of-%s", name)), Controller: ptr.To(true),
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.7.9"}}},
			},
		},
	}
	if record != "" {
		deployment.Annotations = map[string]string{"model.github.com/record": record}
	}
	return deployment
}
