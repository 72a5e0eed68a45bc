// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// policyProbe is the name of objects that a policy denies to all users, so that a test can detect when the policy takes effect.
const policyProbe = "policy-probe"

// DenyServer creates a ValidatingAdmissionPolicy that denies writes of these resources by the server in the namespace, and waits
// until it takes effect. allow deletes the policy. It is also deleted at the end of the test.
func (n *Namespace) DenyServer(resources ...string) (allow func()) {
	n.T.Helper()
	rule := func(resources ...string) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete},
			// kube-apiserver writes the address of a Service as a cluster-scoped object, for all users.
			Rule: admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: resources, Scope: ptr.To(admissionregistrationv1.NamespacedScope)},
		}
	}
	admission := n.ControlPlane.KubeClient.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{GenerateName: n.Name + "-"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: n.Name}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{
					{RuleWithOperations: rule(resources...)},
					{RuleWithOperations: rule("configmaps", "modelboxes"), ResourceNames: []string{policyProbe}},
				},
			},
			Validations: []admissionregistrationv1.Validation{{
				// The server is the user system:apiserver in requests to itself.
				Expression: fmt.Sprintf("!(request.userInfo.username in [%q, 'system:apiserver']) && request.name != %q", ServerUser, policyProbe),
				Message:    "the server may not write this now",
			}},
		},
	}
	policy, err := admission.ValidatingAdmissionPolicies().Create(n.Ctx, policy, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy.Name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	if _, err := admission.ValidatingAdmissionPolicyBindings().Create(n.Ctx, binding, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	allow = func() {
		ctx := context.WithoutCancel(n.Ctx)
		_ = admission.ValidatingAdmissionPolicyBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{})
		_ = admission.ValidatingAdmissionPolicies().Delete(ctx, policy.Name, metav1.DeleteOptions{})
	}
	n.T.Cleanup(allow)
	n.Eventually("the policy denies", func() error {
		trial := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		_, err := n.ConfigMaps.Create(n.Ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: policyProbe}}, trial)
		if err == nil || !strings.Contains(err.Error(), policy.Name) {
			return fmt.Errorf("creating a ConfigMap: %v", err)
		}
		_, err = n.Boxes.Create(n.Ctx, NewBox(policyProbe), trial)
		if err == nil || !strings.Contains(err.Error(), policy.Name) {
			return fmt.Errorf("creating a box: %v", err)
		}
		return nil
	})
	return allow
}
