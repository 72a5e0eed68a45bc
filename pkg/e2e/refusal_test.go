// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// badSpecs are specs that are refused, each with the field that the refusal names.
var badSpecs = []struct {
	name  string
	spoil func(*modelv1.ModelBoxSpec)
	field string
}{
	{"no image", withImage(""), "spec.image"},
	{"fewer than no replicas", withReplicas(-1), "spec.replicas"},
	{"rolling by no pods", withRollingUpdate(intstr.FromInt32(0)), "spec.rollingUpdate"},
	{"rolling by 0%", withRollingUpdate(intstr.FromString("0%")), "spec.rollingUpdate"},
	{"rolling by 150%", withRollingUpdate(intstr.FromString("150%")), "spec.rollingUpdate"},
	{"rolling by a word", withRollingUpdate(intstr.FromString("abc")), "spec.rollingUpdate"},
	{
		"a port number and protocol twice",
		withPorts(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "b", Port: 80}), "spec.ports[1]",
	},
	{"a port number above the last", withPorts(corev1.ServicePort{Port: 65536}), "spec.ports[0].port"},
	{"a target port that no container has", withPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("web")}), "spec.ports[0].targetPort"},
	{
		"a node port without a Service that has node ports",
		func(spec *modelv1.ModelBoxSpec) {
			spec.ServiceType, spec.Ports[0].NodePort = modelv1.ServiceTypeClusterIP, 30099
		}, "spec.ports[0].nodePort",
	},
	{
		"a node port that the cluster does not give out",
		func(spec *modelv1.ModelBoxSpec) { spec.Ports[0].NodePort = 8080 }, "spec.ports[0].nodePort",
	},
	{"an unknown Service type", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = "ExternalName" }, "spec.serviceType"},
	{"an unknown resource class", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = "huge" }, "spec.resourceType"},
	{
		"a resource class together with resources",
		func(spec *modelv1.ModelBoxSpec) {
			spec.ResourceType = modelv1.ResourceTypeSmall
			spec.Resources = &corev1.ResourceRequirements{Requests: resources("1", "")}
		}, "spec.resources",
	},
	{
		"a container with the name of the main container",
		func(spec *modelv1.ModelBoxSpec) {
			spec.Name, spec.Containers = "main", []corev1.Container{{Name: "main", Image: image}}
		}, "spec.containers[0].name",
	},
	{
		"an init container with the name of another container",
		func(spec *modelv1.ModelBoxSpec) {
			spec.Containers = []corev1.Container{{Name: "extra", Image: image}}
			spec.InitContainers = []corev1.Container{{Name: "extra", Image: image}}
		}, "spec.initContainers[0].name",
	},
	{
		"an init container without image",
		func(spec *modelv1.ModelBoxSpec) { spec.InitContainers = []corev1.Container{{Name: "setup"}} }, "spec.initContainers[0].image",
	},
	{
		"a probe that checks in two ways",
		func(spec *modelv1.ModelBoxSpec) {
			spec.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				Exec:      &corev1.ExecAction{Command: []string{"true"}},
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)},
			}}
		}, "spec.readinessProbe.tcpSocket",
	},
	{
		"a mount of a volume that there is not",
		func(spec *modelv1.ModelBoxSpec) {
			spec.VolumeMounts = []corev1.VolumeMount{{Name: "missing", MountPath: "/data"}}
		}, "spec.volumeMounts[0].name",
	},
	{"an environment variable without name", func(spec *modelv1.ModelBoxSpec) { spec.Envs = []corev1.EnvVar{{Value: "x"}} }, "spec.envs[0].name"},
}

func withRollingUpdate(step intstr.IntOrString) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.RollingUpdate = modelv1.NewRollingUpdate(step) }
}

func TestBadSpecIsRefused(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	stored := n.createReady(newBox("good"))
	for _, bad := range badSpecs {
		t.Run("new box with "+bad.name, func(t *testing.T) {
			n := n.in(t)
			_, err := n.boxes.Create(n.ctx, newBox("bad", bad.spoil), metav1.CreateOptions{})
			expectInvalid(t, err, bad.field)
			_, err = n.boxes.Get(n.ctx, "bad", metav1.GetOptions{})
			if expectGone(err) != nil {
				t.Errorf("the refused box: %v", expectGone(err))
			}
		})
		t.Run("good box that gets "+bad.name, func(t *testing.T) {
			n := n.in(t)
			box := stored.DeepCopy()
			box.ResourceVersion = ""
			bad.spoil(&box.Spec)
			_, err := n.boxes.Update(n.ctx, box, metav1.UpdateOptions{})
			expectInvalid(t, err, bad.field)
			after := n.box("good")
			expectEqual(t, "generation after the refused update", stored.Generation, after.Generation)
			expectEqual(t, "spec after the refused update", stored.Spec, after.Spec)
		})
	}
}

func TestBadNameIsRefused(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	for _, bad := range []struct{ why, name string }{
		{"dots", "web.example"},
		{"upper case", "Web"},
		{"a digit in front, which no Service may have", "1web"},
		{"a dash at the end, which no label value may have", "web-"},
		{"more characters than a label value may have", strings.Repeat("a", 64)},
	} {
		t.Run(bad.why, func(t *testing.T) {
			n := n.in(t)
			_, err := n.boxes.Create(n.ctx, newBox(bad.name, func(spec *modelv1.ModelBoxSpec) { spec.Name = "main" }), metav1.CreateOptions{})
			expectInvalid(t, err, "metadata.name")
		})
	}
	boxes, err := n.boxes.List(n.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "number of boxes stored", 0, len(boxes.Items))
}

// TestRefusalReadsWell is about the one line that most users ever see of all this.
func TestRefusalReadsWell(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	complaint := n.kubectlRefused(`{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {replicas: -1}}`,
		"apply", "--filename=-")
	for _, words := range []string{`The ModelBox "web" is invalid`, "spec.image: Required value", "spec.replicas: Invalid value: -1"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
}

// expectInvalid checks that err is a refusal of the object as invalid which names the field.
func expectInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Code != 422 {
		t.Fatalf("want it refused as invalid, got %v", err)
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == field {
			return
		}
		fields = append(fields, fmt.Sprintf("%s: %s", cause.Field, cause.Message))
	}
	t.Errorf("the refusal does not name %s, but:\n%s", field, strings.Join(fields, "\n"))
}
