// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// changes are changes of a box, with the spec before and after. The spec before must leave no trace.
var changes = []struct {
	name          string
	before, after func(*modelv1.ModelBoxSpec)
}{
	{"a probe that checks in another way", framework.WithReadinessProbe(framework.HTTPGet), framework.WithReadinessProbe(framework.TCPSocket)},
	{"a probe of its own that goes", framework.WithReadinessProbe(framework.HTTPGet), asItIs},
	{"default probes that go", asItIs, func(spec *modelv1.ModelBoxSpec) { spec.DefaultProbes = modelv1.DefaultProbesDisabled }},
	{"a variable whose value comes from elsewhere", framework.WithEnvs(framework.EnvValue("A", "1")), framework.WithEnvs(framework.EnvFromName("A"))},
	{"a variable that loses its valueFrom", framework.WithEnvs(framework.EnvFromName("A")), framework.WithEnvs(framework.EnvValue("A", ""))},
	{"variables in another order", framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "$(A)")), framework.WithEnvs(framework.EnvValue("B", "1"), framework.EnvValue("A", "$(B)"))},
	{"a variable in front of others", framework.WithEnvs(framework.EnvValue("B", "2")), framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "2"))},
	{"variables that go", framework.WithEnvs(framework.EnvValue("A", "1")), framework.WithEnvs()},
	{"init containers in another order", withInitContainers("first", "second"), withInitContainers("second", "first")},
	{"an init container in front of others", withInitContainers("second"), withInitContainers("first", "second")},
	{"containers that go", withContainers("a", "b"), withContainers("b")},
	{"a volume of another kind", framework.WithVolume(framework.EmptyDir), framework.WithVolume(framework.ConfigMap)},
	{"a volume that goes", framework.WithVolume(framework.ConfigMap), asItIs},
	{"a resource class in place of resources", withRequests("100m"), func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }},
	{"resources in place of a resource class", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }, withRequests("100m")},
	{"resources that go", withRequests("100m"), asItIs},
	{"command and arguments that go", func(spec *modelv1.ModelBoxSpec) { spec.Command, spec.Args = []string{"run"}, []string{"fast"} }, asItIs},
	{"a step of a rolling update in pods", framework.WithRollingUpdate(intstr.FromString("30%")), framework.WithRollingUpdate(intstr.FromInt32(2))},
	{"another name of the main container", func(spec *modelv1.ModelBoxSpec) { spec.Name = "old" }, func(spec *modelv1.ModelBoxSpec) { spec.Name = "new" }},
	{"a service account that goes", func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "robot" }, asItIs},
	{"another service account", func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "robot" }, func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "human" }},
	{"pull secrets that go", func(spec *modelv1.ModelBoxSpec) {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	}, asItIs},
	{"another port number", framework.WithPorts(corev1.ServicePort{Port: 80}), framework.WithPorts(corev1.ServicePort{Port: 8080})},
	{"another target port", framework.WithPorts(corev1.ServicePort{Port: 80}), framework.WithPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8080)})},
	{"another protocol", framework.WithPorts(corev1.ServicePort{Port: 53}), framework.WithPorts(corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP})},
	{"another port name", framework.WithPorts(corev1.ServicePort{Name: "old", Port: 80}), framework.WithPorts(corev1.ServicePort{Name: "new", Port: 80})},
	{"port names that swap", framework.WithPorts(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "b", Port: 81}), framework.WithPorts(corev1.ServicePort{Name: "b", Port: 80}, corev1.ServicePort{Name: "a", Port: 81})},
	{"ports in another order", framework.WithPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}), framework.WithPorts(corev1.ServicePort{Port: 81}, corev1.ServicePort{Port: 80})},
	{"a second port that goes", framework.WithPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}), framework.WithPorts(corev1.ServicePort{Port: 80})},
	{"an application protocol that goes", framework.WithPorts(corev1.ServicePort{Port: 80, AppProtocol: ptr.To("http")}), asItIs},
	{"a node port that goes", framework.WithPorts(corev1.ServicePort{Port: 80, NodePort: 30477}), asItIs},
}

// TestChangedBoxEqualsNewBox compares the children of a changed box with the children of a new box with the same spec and name, in
// another namespace.
func TestChangedBoxEqualsNewBox(t *testing.T) {
	t.Parallel()
	changed, fresh := framework.NewNamespace(t), framework.NewNamespace(t)
	for i, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			changed, fresh := changed.In(t), fresh.In(t)
			name := fmt.Sprintf("box-%d", i)
			fresh.CreateBox(framework.NewBox(name, framework.WithReplicas(0), test.after))
			changed.CreateBox(framework.NewBox(name, framework.WithReplicas(0), test.before))
			changed.AwaitApplied(name)
			changed.UpdateBox(name, func(spec *modelv1.ModelBoxSpec) {
				*spec = framework.NewBox(name, framework.WithReplicas(0), test.after).Spec
			})
			changed.AwaitApplied(name)
			fresh.AwaitApplied(name)
			framework.ExpectEqual(t, "Deployment", fresh.GetDeployment(name).Spec, changed.GetDeployment(name).Spec)
			if diff := cmp.Diff(fresh.GetService(name).Spec, changed.GetService(name).Spec, givenByCluster); diff != "" {
				t.Errorf("Service (-new +changed):\n%s", diff)
			}
		})
	}
}

// givenByCluster are the fields of a Service that the cluster sets.
var givenByCluster = cmpopts.IgnoreFields(corev1.ServiceSpec{}, "ClusterIP", "ClusterIPs")

func asItIs(*modelv1.ModelBoxSpec) {}

var ()

func withContainers(names ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Containers = containersNamed(names) }
}

func withInitContainers(names ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.InitContainers = containersNamed(names) }
}

func containersNamed(names []string) []corev1.Container {
	var containers []corev1.Container
	for _, name := range names {
		containers = append(containers, corev1.Container{Name: name, Image: framework.Image})
	}
	return containers
}

func withRequests(cpu string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Requests: framework.Resources(cpu, "")}
	}
}
