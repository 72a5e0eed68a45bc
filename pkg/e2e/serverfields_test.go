// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestUpdateKeepsFieldsThatTheBoxDoesNotSet changes a box whose children have fields from the cluster and from somebody else.
func TestUpdateKeepsFieldsThatTheBoxDoesNotSet(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeNodePort }))
	byHand := metav1.PatchOptions{FieldManager: somebodyElse}
	service, err := n.services.Patch(n.ctx, "web", types.MergePatchType,
		[]byte(`{"spec": {"sessionAffinity": "ClientIP", "internalTrafficPolicy": "Local", "publishNotReadyAddresses": true}}`), byHand)
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := n.deployments.Patch(n.ctx, "web", types.MergePatchType,
		[]byte(`{"spec": {"revisionHistoryLimit": 3, "progressDeadlineSeconds": 99, "template": {"spec": {"enableServiceLinks": false}}}}`), byHand)
	if err != nil {
		t.Fatal(err)
	}

	n.change("web", func(spec *modelv1.ModelBoxSpec) {
		withImage(newImage)(spec)
		withPorts(corev1.ServicePort{Name: "http", Port: 80}, corev1.ServicePort{Name: "admin", Port: 8080})(spec)
	})
	n.awaitReady("web")

	now := n.service("web")
	expectEqual(t, "UID of the Service", service.UID, now.UID)
	expectEqual(t, "number of ports", 2, len(now.Spec.Ports))
	expectEqual(t, "node port, which the cluster chose", service.Spec.Ports[0].NodePort, now.Spec.Ports[0].NodePort)
	kept := now.Spec
	kept.Ports = service.Spec.Ports
	expectEqual(t, "all else of the Service", service.Spec, kept)

	after := n.deployment("web")
	expectEqual(t, "UID of the Deployment", deployment.UID, after.UID)
	expectEqual(t, "image", newImage, after.Spec.Template.Spec.Containers[0].Image)
	expectEqual(t, "revisionHistoryLimit", ptr.To[int32](3), after.Spec.RevisionHistoryLimit)
	expectEqual(t, "progressDeadlineSeconds", ptr.To[int32](99), after.Spec.ProgressDeadlineSeconds)
	expectEqual(t, "enableServiceLinks", ptr.To(false), after.Spec.Template.Spec.EnableServiceLinks)
}
