// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// hungBoxes is a number of boxes that the server could not reconcile in time if each of its workers waited for the webhook.
const hungBoxes = 100

// TestHangingWebhookHoldsUpNoOtherNamespace blocks the creation of Deployments in one namespace for the longest timeout of a
// webhook, and creates a box in another namespace.
func TestHangingWebhookHoldsUpNoOtherNamespace(t *testing.T) {
	t.Parallel()
	hung, other := framework.NewNamespace(t), framework.NewNamespace(t)
	calls := hangDeployments(hung)
	for i := range hungBoxes {
		hung.CreateBox(framework.NewBox(fmt.Sprintf("box-%d", i), framework.WithReplicas(0), framework.WithPorts()))
	}
	hung.Eventually("Deployments hang", func() error {
		if calls.Load() == 0 {
			return fmt.Errorf("the webhook was not called")
		}
		return nil
	})
	other.CreateReadyBox(framework.NewBox("web"))
}

// hangDeployments registers a webhook that does not respond for the creation of Deployments in the namespace. It counts its calls.
func hangDeployments(n *framework.Namespace) *atomic.Int32 {
	n.T.Helper()
	var calls atomic.Int32
	ended := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		<-ended
	}))
	n.T.Cleanup(server.Close)
	n.T.Cleanup(func() { close(ended) })
	webhooks := n.ControlPlane.KubeClient.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := webhooks.Create(n.Ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hangs.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      ptr.To(server.URL),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: n.Name}},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds:          ptr.To[int32](30),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(func() {
		if err := webhooks.Delete(context.WithoutCancel(n.Ctx), n.Name, metav1.DeleteOptions{}); err != nil {
			n.T.Error(err)
		}
	})
	return &calls
}
