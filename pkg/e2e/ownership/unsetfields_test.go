// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestUpdateKeepsFieldsThatTheBoxDoesNotSet changes a box whose children have fields from the cluster and from another client.
func TestUpdateKeepsFieldsThatTheBoxDoesNotSet(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeNodePort }))
	byHand := metav1.PatchOptions{FieldManager: framework.OtherManager}
	service, err := n.Services.Patch(n.Ctx, "web", types.MergePatchType,
		[]byte(`{"spec": {"sessionAffinity": "ClientIP", "internalTrafficPolicy": "Local", "publishNotReadyAddresses": true}}`), byHand)
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := n.Deployments.Patch(n.Ctx, "web", types.MergePatchType,
		[]byte(`{"spec": {"revisionHistoryLimit": 3, "progressDeadlineSeconds": 99, "template": {"spec": {"enableServiceLinks": false}}}}`), byHand)
	if err != nil {
		t.Fatal(err)
	}

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		framework.WithImage(framework.NewImage)(spec)
		framework.WithPorts(corev1.ServicePort{Name: "http", Port: 80}, corev1.ServicePort{Name: "admin", Port: 8080})(spec)
	})
	n.AwaitReady("web")

	now := n.GetService("web")
	framework.ExpectEqual(t, "UID of the Service", service.UID, now.UID)
	framework.ExpectEqual(t, "number of ports", 2, len(now.Spec.Ports))
	framework.ExpectEqual(t, "node port, which the cluster chose", service.Spec.Ports[0].NodePort, now.Spec.Ports[0].NodePort)
	kept := now.Spec
	kept.Ports = service.Spec.Ports
	framework.ExpectEqual(t, "all else of the Service", service.Spec, kept)

	after := n.GetDeployment("web")
	framework.ExpectEqual(t, "UID of the Deployment", deployment.UID, after.UID)
	framework.ExpectEqual(t, "image", framework.NewImage, after.Spec.Template.Spec.Containers[0].Image)
	framework.ExpectEqual(t, "revisionHistoryLimit", ptr.To[int32](3), after.Spec.RevisionHistoryLimit)
	framework.ExpectEqual(t, "progressDeadlineSeconds", ptr.To[int32](99), after.Spec.ProgressDeadlineSeconds)
	framework.ExpectEqual(t, "enableServiceLinks", ptr.To(false), after.Spec.Template.Spec.EnableServiceLinks)
}
