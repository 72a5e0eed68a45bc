// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Protobuf has values that JSON does not have. A stored object with one of them would keep every user from listing objects as
// JSON.
func TestValuesWithoutAJSONFormKeepNoListFromOthers(t *testing.T) {
	impossible := intstr.IntOrString{Type: 7}
	server := startServer(t)
	boxes := server.client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	if _, err := boxes.Create(t.Context(), newNginx("mail"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		spec modelv1.ModelBoxSpec
	}{
		{"target-port", modelv1.ModelBoxSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: impossible}}}},
		{"rolling-update", modelv1.ModelBoxSpec{RollingUpdate: &modelv1.RollingUpdate{Type: 7}}},
		{"readiness-probe", modelv1.ModelBoxSpec{ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: impossible}}}}},
		{"lifecycle-hook", modelv1.ModelBoxSpec{Containers: []corev1.Container{{Name: "b", Image: "b:1", Lifecycle: &corev1.Lifecycle{
			PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: impossible}},
		}}}}},
		{"disruption-budget", modelv1.ModelBoxSpec{DisruptionBudget: &modelv1.ModelBoxDisruptionBudget{MinAvailable: &impossible}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.spec.Image = "nginx:1.7.9"
			raw, err := (&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: row.name}, Spec: row.spec}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			body, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"}, Raw: raw}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			created := server.client.ModelV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("modelboxes").
				SetHeader("Content-Type", runtime.ContentTypeProtobuf).Body(append(bytes.Clone(protobufPrefix), body...)).Do(t.Context())
			if err := created.Error(); err == nil {
				t.Error("the box is created")
			}
			list, err := boxes.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) == 0 {
				t.Errorf("listing the boxes as JSON: %v", err)
			}
		})
	}
}
