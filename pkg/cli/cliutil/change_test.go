// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestMergePatch(t *testing.T) {
	before := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: "7"}}
	before.Spec.ServiceType = modelv1.ServiceTypeHeadless
	before.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	after := before.DeepCopy()
	after.Spec.ServiceType = ""
	after.Spec.Ports = append(after.Spec.Ports, corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolUDP})
	patch, err := mergePatch(before, after)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{"resourceVersion":"7"},"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":0},{"port":80,"protocol":"UDP","targetPort":0}],"serviceType":null}}`
	if string(patch) != want {
		t.Errorf("got %s, want %s", patch, want)
	}
	if _, err := mergePatch(before, before.DeepCopy()); err == nil || err.Error() != "is already up to date" {
		t.Errorf("without a change: got %v", err)
	}
}
