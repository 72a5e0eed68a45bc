// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// changes are what users change of a box, before and after. What they had before must leave no trace.
var changes = []struct {
	name          string
	before, after func(*modelv1.ModelBoxSpec)
}{
	{"a probe that checks in another way", withProbe(httpGet), withProbe(tcpSocket)},
	{"a probe of its own that goes", withProbe(httpGet), asItIs},
	{"default probes that go", asItIs, func(spec *modelv1.ModelBoxSpec) { spec.DefaultProbes = modelv1.DefaultProbesDisabled }},
	{"a variable whose value comes from elsewhere", withEnvs(value("A", "1")), withEnvs(fieldValue("A"))},
	{"a variable whose value comes from nowhere any more", withEnvs(fieldValue("A")), withEnvs(value("A", ""))},
	{"variables in another order", withEnvs(value("A", "1"), value("B", "$(A)")), withEnvs(value("B", "1"), value("A", "$(B)"))},
	{"a variable in front of others", withEnvs(value("B", "2")), withEnvs(value("A", "1"), value("B", "2"))},
	{"variables that go", withEnvs(value("A", "1")), withEnvs()},
	{"init containers in another order", withInitContainers("first", "second"), withInitContainers("second", "first")},
	{"an init container in front of others", withInitContainers("second"), withInitContainers("first", "second")},
	{"containers that go", withContainers("a", "b"), withContainers("b")},
	{"a volume of another kind", withVolume(emptyDir), withVolume(configMap)},
	{"a volume that goes", withVolume(configMap), asItIs},
	{"a resource class in place of resources", withRequests("100m"), func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }},
	{"resources in place of a resource class", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }, withRequests("100m")},
	{"resources that go", withRequests("100m"), asItIs},
	{"command and arguments that go", func(spec *modelv1.ModelBoxSpec) { spec.Command, spec.Args = []string{"run"}, []string{"fast"} }, asItIs},
	{"a step of a rolling update in pods", withRollingUpdate(intstr.FromString("30%")), withRollingUpdate(intstr.FromInt32(2))},
	{"another name of the main container", func(spec *modelv1.ModelBoxSpec) { spec.Name = "old" }, func(spec *modelv1.ModelBoxSpec) { spec.Name = "new" }},
	{"a service account that goes", func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "robot" }, asItIs},
	{"another service account", func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "robot" }, func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = "human" }},
	{"pull secrets that go", func(spec *modelv1.ModelBoxSpec) {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	}, asItIs},
	{"another port number", withPorts(corev1.ServicePort{Port: 80}), withPorts(corev1.ServicePort{Port: 8080})},
	{"another target port", withPorts(corev1.ServicePort{Port: 80}), withPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8080)})},
	{"another protocol", withPorts(corev1.ServicePort{Port: 53}), withPorts(corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP})},
	{"another port name", withPorts(corev1.ServicePort{Name: "old", Port: 80}), withPorts(corev1.ServicePort{Name: "new", Port: 80})},
	{"port names that swap", withPorts(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "b", Port: 81}), withPorts(corev1.ServicePort{Name: "b", Port: 80}, corev1.ServicePort{Name: "a", Port: 81})},
	{"ports in another order", withPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}), withPorts(corev1.ServicePort{Port: 81}, corev1.ServicePort{Port: 80})},
	{"a second port that goes", withPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}), withPorts(corev1.ServicePort{Port: 80})},
	{"an application protocol that goes", withPorts(corev1.ServicePort{Port: 80, AppProtocol: ptr.To("http")}), asItIs},
	{"a node port that goes", withPorts(corev1.ServicePort{Port: 80, NodePort: 30477}), asItIs},
}

// TestChangedBoxIsAsGoodAsNew compares the children of a box that was changed with those of a box that was created
// so, of the same name in another namespace.
func TestChangedBoxIsAsGoodAsNew(t *testing.T) {
	t.Parallel()
	changed, fresh := newNamespace(t), newNamespace(t)
	for i, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			changed, fresh := changed.in(t), fresh.in(t)
			name := fmt.Sprintf("box-%d", i)
			fresh.create(newBox(name, withReplicas(0), test.after))
			changed.create(newBox(name, withReplicas(0), test.before))
			changed.awaitApplied(name)
			changed.change(name, func(spec *modelv1.ModelBoxSpec) { *spec = newBox(name, withReplicas(0), test.after).Spec })
			changed.awaitApplied(name)
			fresh.awaitApplied(name)
			expectEqual(t, "Deployment", fresh.deployment(name).Spec, changed.deployment(name).Spec)
			if diff := cmp.Diff(fresh.service(name).Spec, changed.service(name).Spec, givenByCluster); diff != "" {
				t.Errorf("Service (-new +changed):\n%s", diff)
			}
		})
	}
}

// givenByCluster is what the cluster gives to a Service of its own.
var givenByCluster = cmpopts.IgnoreFields(corev1.ServiceSpec{}, "ClusterIP", "ClusterIPs")

func (n *namespace) awaitApplied(box string) {
	n.t.Helper()
	n.awaitBox(box, "is applied", func(box *modelv1.ModelBox) error {
		return hasCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
	})
}

func asItIs(*modelv1.ModelBoxSpec) {}

var (
	httpGet   = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80)}}
	tcpSocket = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}
	emptyDir  = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	configMap = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "files"}}}
)

func withProbe(handler corev1.ProbeHandler) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.ReadinessProbe = &corev1.Probe{ProbeHandler: handler} }
}

func withEnvs(envs ...corev1.EnvVar) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Envs = envs }
}

func value(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func fieldValue(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
}

func withContainers(names ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Containers = containersNamed(names) }
}

func withInitContainers(names ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.InitContainers = containersNamed(names) }
}

func containersNamed(names []string) []corev1.Container {
	var containers []corev1.Container
	for _, name := range names {
		containers = append(containers, corev1.Container{Name: name, Image: image})
	}
	return containers
}

func withVolume(source corev1.VolumeSource) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
		spec.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
}

func withPodTemplate(spec corev1.PodSpec) func(*modelv1.ModelBoxSpec) {
	return func(box *modelv1.ModelBoxSpec) { box.PodTemplate = &corev1.PodTemplateSpec{Spec: spec} }
}

func withRequests(cpu string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Requests: resources(cpu, "")}
	}
}
