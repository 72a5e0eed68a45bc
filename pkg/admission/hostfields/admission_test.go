// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostfields

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/hostclustertest"
)

func newBox(image string, template *corev1.PodTemplateSpec) *model.ModelBox {
	return &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       model.ModelBoxSpec{Image: image, PodTemplate: template},
	}
}

func newStack(box *model.ModelBox) *model.ModelStack {
	return &model.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec:       model.ModelStackSpec{Components: []model.ModelStackComponent{{Name: "web", BoxName: "web", Box: &box.Spec}}},
	}
}

// withHostname is a pod template with a field of 1.34.
func withHostname(name string, containers ...corev1.Container) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostnameOverride: ptr.To(name), Containers: containers}}
}

func newWrite(object, old runtime.Object) admission.Attributes {
	resource, kind := "modelboxes", "ModelBox"
	if _, isStack := object.(*model.ModelStack); isStack {
		resource, kind = "modelstacks", "ModelStack"
	}
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	return admission.NewAttributesRecord(object, old, model.SchemeGroupVersion.WithKind(kind), "default", "web",
		model.Resource(resource).WithVersion("v1"), "", operation, nil, false, nil)
}

func TestFieldsThatTheClusterDoesNotKnowAreRefused(t *testing.T) {
	const refused = `spec.podTemplate.spec.hostnameOverride: Forbidden: Kubernetes 1.33.0, which the cluster runs, does not know hostnameOverride of PodSpec; it needs 1.34 or later`
	restarting := corev1.Container{Name: "web", RestartPolicyRules: []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart}}}
	for _, row := range []struct {
		name        string
		cluster     string
		object, old runtime.Object
		want        []string
	}{
		{"a new box", "1.33", newBox("nginx:1", withHostname("a")), nil, []string{refused}},
		{"a new box of a cluster that knows it", "1.34", newBox("nginx:1", withHostname("a")), nil, nil},
		{"a new box without such a field", "1.33", newBox("nginx:1", nil), nil, nil},
		{"a box that gets it", "1.33", newBox("nginx:1", withHostname("a")), newBox("nginx:1", nil), []string{refused}},
		{"a box that gets another value", "1.33", newBox("nginx:1", withHostname("b")), newBox("nginx:1", withHostname("a")), []string{refused}},
		{"a box that has it and changes otherwise", "1.33", newBox("nginx:2", withHostname("a")), newBox("nginx:1", withHostname("a")), nil},
		{"a box that has it and gets another", "1.33", newBox("nginx:1", withHostname("a", restarting)), newBox("nginx:1", withHostname("a")), []string{
			`spec.podTemplate.spec.containers[0].restartPolicyRules: Forbidden: Kubernetes 1.33.0, which the cluster runs, does not know restartPolicyRules of Container; it needs 1.34 or later`}},
		{"a box that gives it up", "1.33", newBox("nginx:1", nil), newBox("nginx:1", withHostname("a")), nil},
		{"a stack with such a box", "1.33", newStack(newBox("nginx:1", withHostname("a"))), nil, []string{
			`spec.components[0].box.podTemplate.spec.hostnameOverride: Forbidden: Kubernetes 1.33.0, which the cluster runs, does not know hostnameOverride of PodSpec; it needs 1.34 or later`}},
		{"a stack whose box has it already", "1.33", newStack(newBox("nginx:2", withHostname("a"))), newStack(newBox("nginx:1", withHostname("a"))), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			plugin := newPlugin()
			Initializer{hostclustertest.NewServer(t, row.cluster).Cluster(t, clocktesting.NewFakePassiveClock(time.Now()))}.Initialize(plugin)
			if err := plugin.ValidateInitialization(); err != nil {
				t.Fatal(err)
			}
			err := plugin.Validate(t.Context(), newWrite(row.object, row.old), nil)
			if err != nil && !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want it to be invalid", err)
			}
			var got []string
			if status, isStatus := err.(apierrors.APIStatus); isStatus {
				for _, cause := range status.Status().Details.Causes {
					got = append(got, cause.Field+": "+cause.Message)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}
