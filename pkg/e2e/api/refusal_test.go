// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// badSpecs are invalid specs, each with the field in the error.
var badSpecs = []struct {
	name  string
	spoil func(*modelv1.ModelBoxSpec)
	field string
}{
	{"no image", framework.WithImage(""), "spec.image"},
	{"fewer than no replicas", framework.WithReplicas(-1), "spec.replicas"},
	{"rolling by no pods", framework.WithRollingUpdate(intstr.FromInt32(0)), "spec.rollingUpdate"},
	{"rolling by 0%", framework.WithRollingUpdate(intstr.FromString("0%")), "spec.rollingUpdate"},
	{"rolling by 150%", framework.WithRollingUpdate(intstr.FromString("150%")), "spec.rollingUpdate"},
	{"rolling by a word", framework.WithRollingUpdate(intstr.FromString("abc")), "spec.rollingUpdate"},
	{
		"a port number and protocol twice",
		framework.WithPorts(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "b", Port: 80}), "spec.ports[1]",
	},
	{"a port number above the last", framework.WithPorts(corev1.ServicePort{Port: 65536}), "spec.ports[0].port"},
	{"a target port that no container has", framework.WithPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("web")}), "spec.ports[0].targetPort"},
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
	{"an Ingress of an IP address", framework.WithIngress("", "192.0.2.1"), "spec.ingress.hosts[0]"},
	{"an Ingress of a host twice", framework.WithIngress("", "a.example.com", "a.example.com"), "spec.ingress.hosts[1]"},
	{"an Ingress without a port to lead to", func(spec *modelv1.ModelBoxSpec) {
		spec.Ports, spec.Ingress = nil, &modelv1.ModelBoxIngress{}
	}, "spec.ports"},
	{"an Ingress with a port that the box does not have", func(spec *modelv1.ModelBoxSpec) {
		spec.Ingress = &modelv1.ModelBoxIngress{Port: ptr.To(intstr.FromString("admin"))}
	}, "spec.ingress.port"},
	{"an Ingress with a path that leaves its folder", func(spec *modelv1.ModelBoxSpec) {
		spec.Ingress = &modelv1.ModelBoxIngress{Path: "/a/../b"}
	}, "spec.ingress.path"},
	{"an Ingress of an impossible class", framework.WithIngress("My class"), "spec.ingress.className"},
	{"a route without parents", func(spec *modelv1.ModelBoxSpec) { spec.Route = &modelv1.ModelBoxRoute{} }, "spec.route.parentRefs"},
	{"an unknown Service type", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = "ExternalName" }, "spec.serviceType"},
	{"an unknown resource class", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = "huge" }, "spec.resourceType"},
	{
		"a resource class together with resources",
		func(spec *modelv1.ModelBoxSpec) {
			spec.ResourceType = modelv1.ResourceTypeSmall
			spec.Resources = &corev1.ResourceRequirements{Requests: framework.Resources("1", "")}
		}, "spec.resources",
	},
	{
		"a container with the name of the main container",
		func(spec *modelv1.ModelBoxSpec) {
			spec.Name, spec.Containers = "main", []corev1.Container{{Name: "main", Image: framework.Image}}
		}, "spec.containers[0].name",
	},
	{
		"an init container with the name of another container",
		func(spec *modelv1.ModelBoxSpec) {
			spec.Containers = []corev1.Container{{Name: "extra", Image: framework.Image}}
			spec.InitContainers = []corev1.Container{{Name: "extra", Image: framework.Image}}
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

func TestInvalidSpecIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	stored := n.CreateReadyBox(framework.NewBox("good"))
	for _, bad := range badSpecs {
		t.Run("new box with "+bad.name, func(t *testing.T) {
			n := n.In(t)
			_, err := n.Boxes.Create(n.Ctx, framework.NewBox("bad", bad.spoil), metav1.CreateOptions{})
			framework.ExpectInvalid(t, err, bad.field)
			_, err = n.Boxes.Get(n.Ctx, "bad", metav1.GetOptions{})
			if framework.CheckGone(err) != nil {
				t.Errorf("the refused box: %v", framework.CheckGone(err))
			}
		})
		t.Run("good box that gets "+bad.name, func(t *testing.T) {
			n := n.In(t)
			box := stored.DeepCopy()
			box.ResourceVersion = ""
			bad.spoil(&box.Spec)
			_, err := n.Boxes.Update(n.Ctx, box, metav1.UpdateOptions{})
			framework.ExpectInvalid(t, err, bad.field)
			after := n.GetBox("good")
			framework.ExpectEqual(t, "generation after the refused update", stored.Generation, after.Generation)
			framework.ExpectEqual(t, "spec after the refused update", stored.Spec, after.Spec)
		})
	}
}

func TestInvalidNameIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, bad := range []struct{ why, name string }{
		{"dots", "web.example"},
		{"upper case", "Web"},
		{"a digit in front, which no Service may have", "1web"},
		{"a dash at the end, which no label value may have", "web-"},
		{"more characters than a label value may have", strings.Repeat("a", 64)},
	} {
		t.Run(bad.why, func(t *testing.T) {
			n := n.In(t)
			_, err := n.Boxes.Create(n.Ctx, framework.NewBox(bad.name, func(spec *modelv1.ModelBoxSpec) { spec.Name = "main" }), metav1.CreateOptions{})
			framework.ExpectInvalid(t, err, "metadata.name")
		})
	}
	boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "number of boxes stored", 0, len(boxes.Items))
}

// TestInvalidErrorNamesEveryField checks the one line of the error that kubectl prints.
func TestInvalidErrorNamesEveryField(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	complaint := n.Kubectl.RunFailing(`{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {replicas: -1}}`,
		"apply", "--filename=-")
	for _, words := range []string{`The ModelBox "web" is invalid`, "spec.image: Required value", "spec.replicas: Invalid value: -1"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("kubectl does not say %q:\n%s", words, complaint)
		}
	}
}
