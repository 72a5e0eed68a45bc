// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// finalizer is the finalizer of an operator that cleans up after its boxes.
const finalizer = "example.com/operator"

// customResource returns box i of the test. Twenty of them have all fields of boxes as custom resources.
func customResource(namespace string, i int) *unstructured.Unstructured {
	name := fmt.Sprintf("box-%03d", i)
	spec := map[string]any{"name": "main", "image": fmt.Sprintf("nginx:1.%d", i%7), "replicas": int64(1 + i%2)}
	annotations := map[string]any{"example.com/number": fmt.Sprint(i)}
	metadata := map[string]any{
		"namespace": namespace, "name": name,
		"labels":      map[string]any{"team": fmt.Sprintf("team-%d", i%3)},
		"annotations": annotations,
	}
	switch i % 5 {
	case 0:
		spec["ports"] = []any{map[string]any{"port": int64(80)}}
		spec["rollingUpdate"] = "30%"
	case 1:
		spec["ports"] = []any{
			map[string]any{"name": "http", "port": int64(80), "targetPort": int64(8080), "protocol": "TCP"},
			map[string]any{"name": "dns", "port": int64(53), "protocol": "UDP"},
		}
		spec["rollingUpdate"] = int64(1)
	case 2:
		spec["envs"] = []any{map[string]any{"name": "ZONE", "value": "b"}, map[string]any{"name": "AREA", "value": "a"}}
	case 3:
		spec["resources"] = map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "16Mi"},
			"limits":   map[string]any{"memory": "64Mi"},
		}
		metadata["finalizers"] = []any{finalizer}
	}
	if i == 0 {
		spec["ports"] = []any{map[string]any{"port": int64(80), "targetPort": int64(80), "nodePort": int64(30010)}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": modelv1.SchemeGroupVersion.String(), "kind": "ModelBox", "metadata": metadata, "spec": spec,
	}}
}

// operate creates the children of a custom resource like an operator: a Deployment and a Service with its name, and with other
// labels.
func operate(ctx context.Context, client kubernetes.Interface, object *unstructured.Unstructured) error {
	box := &modelv1.ModelBox{}
	if err := convert(object, box); err != nil {
		return err
	}
	labels := map[string]string{"app": box.Name}
	metadata := metav1.ObjectMeta{
		Name:            box.Name,
		Labels:          labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(object, object.GroupVersionKind())},
	}
	container := corev1.Container{Name: box.Spec.Name, Image: box.Spec.Image, Env: box.Spec.Envs}
	if box.Spec.Resources != nil {
		container.Resources = *box.Spec.Resources
	}
	service := &corev1.Service{ObjectMeta: metadata, Spec: corev1.ServiceSpec{Selector: labels}}
	for _, port := range box.Spec.Ports {
		target := port.TargetPort.IntVal
		if target == 0 {
			target = port.Port
		}
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: port.Name, ContainerPort: target, Protocol: port.Protocol})
		if port.NodePort != 0 {
			service.Spec.Type = corev1.ServiceTypeNodePort
		}
		service.Spec.Ports = append(service.Spec.Ports, port)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metadata, Spec: appsv1.DeploymentSpec{
		Replicas: box.Spec.Replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{container}}},
	}}
	options := metav1.CreateOptions{FieldManager: "operator"}
	if _, err := client.AppsV1().Deployments(object.GetNamespace()).Create(ctx, deployment, options); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if len(service.Spec.Ports) > 0 {
		if _, err := client.CoreV1().Services(object.GetNamespace()).Create(ctx, service, options); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	// The server renders no child of this kind for the box. The child is still deleted with the box.
	config := &corev1.ConfigMap{ObjectMeta: metadata, Data: map[string]string{"box": box.Name}}
	config.OwnerReferences[0].Controller = ptr.To(false)
	_, err := client.CoreV1().ConfigMaps(object.GetNamespace()).Create(ctx, config, options)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// operatorStopped is the Deployment of a stopped operator.
func operatorStopped(t *testing.T, n *framework.Namespace) string {
	t.Helper()
	labels := map[string]string{"app": "operator"}
	_, err := n.Deployments.Create(n.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Image: "operator:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n.Name + "/operator"
}
