// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestSampleBecomesReady applies the sample as in the README, and checks the results.
func TestSampleBecomesReady(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("apply", "--filename="+framework.Sample("modelbox.yaml"))
	n.Kubectl.Run("wait", "--for=condition=Ready", "modelbox/modelbox-sample", "--timeout="+framework.Patience.String())
	box := n.GetBox("modelbox-sample")

	labels := map[string]string{
		"modelbox":                     "modelbox-sample",
		"app.kubernetes.io/name":       "nginx",
		"app.kubernetes.io/instance":   "modelbox-sample",
		"app.kubernetes.io/managed-by": "modelbox-apiserver",
	}
	owner := []metav1.OwnerReference{{
		APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "modelbox-sample", UID: box.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}

	t.Run("Deployment", func(t *testing.T) {
		deployment := n.In(t).GetDeployment("modelbox-sample")
		share := intstr.FromString("30%")
		container := deployment.Spec.Template.Spec.Containers[0]
		framework.ExpectEqual(t, "labels", labels, deployment.Labels)
		framework.ExpectEqual(t, "labels of the pods", labels, deployment.Spec.Template.Labels)
		framework.ExpectEqual(t, "selector", &metav1.LabelSelector{MatchLabels: map[string]string{"modelbox": "modelbox-sample"}}, deployment.Spec.Selector)
		framework.ExpectEqual(t, "owner", owner, deployment.OwnerReferences)
		framework.ExpectEqual(t, "replicas", ptr.To[int32](4), deployment.Spec.Replicas)
		framework.ExpectEqual(t, "strategy", appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &share, MaxUnavailable: &share},
		}, deployment.Spec.Strategy)
		framework.ExpectEqual(t, "name of the container", "nginx", container.Name)
		framework.ExpectEqual(t, "image", "nginx:1.7.9", container.Image)
		framework.ExpectEqual(t, "ports of the container", []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}}, container.Ports)
	})

	t.Run("Service", func(t *testing.T) {
		service := n.In(t).GetService("modelbox-sample")
		framework.ExpectEqual(t, "labels", labels, service.Labels)
		framework.ExpectEqual(t, "owner", owner, service.OwnerReferences)
		framework.ExpectEqual(t, "type", corev1.ServiceTypeNodePort, service.Spec.Type)
		framework.ExpectEqual(t, "selector", map[string]string{"modelbox": "modelbox-sample"}, service.Spec.Selector)
		framework.ExpectEqual(t, "ports", []corev1.ServicePort{{
			Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80), NodePort: 30010,
		}}, service.Spec.Ports)
	})

	t.Run("status", func(t *testing.T) {
		pods, err := n.In(t).LivePods("modelbox-sample")
		if err != nil {
			t.Fatal(err)
		}
		var podNames []string
		for _, pod := range pods {
			podNames = append(podNames, pod.Name)
		}
		slices.Sort(podNames)
		status := box.Status
		status.Conditions = nil
		framework.ExpectEqual(t, "status", modelv1.ModelBoxStatus{
			ObservedGeneration: 1,
			DesiredReplicas:    ptr.To[int32](4),
			Replicas:           4,
			UpdatedReplicas:    4,
			ReadyReplicas:      4,
			AvailableReplicas:  4,
			Selector:           "modelbox=modelbox-sample",
			PodNames:           podNames,
			Address:            "modelbox-sample." + n.Name + ".svc:80",
			NodePorts:          []modelv1.NodePort{{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 30010}},
		}, status)
	})

	t.Run("conditions", func(t *testing.T) {
		for _, want := range []struct {
			condition string
			status    metav1.ConditionStatus
			reason    string
		}{
			{"Ready", metav1.ConditionTrue, "Ready"},
			{"Available", metav1.ConditionTrue, "MinimumReplicasAvailable"},
			{"Progressing", metav1.ConditionFalse, "RolloutComplete"},
			{"Applied", metav1.ConditionTrue, "Applied"},
		} {
			if err := framework.CheckCondition(box, want.condition, want.status, want.reason); err != nil {
				t.Error(err)
			}
		}
	})
}
