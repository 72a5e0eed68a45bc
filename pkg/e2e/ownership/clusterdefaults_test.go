// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var (
	projected = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{DownwardAPI: &corev1.DownwardAPIProjection{
				Items: []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: framework.EnvFromName("").ValueFrom.FieldRef}},
			}},
		},
	}}
	claimed = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		}},
	}}
)

// completed are specs that the cluster stores in another form: it adds defaults, leaves out zeros, and normalizes quantities.
var completed = []struct {
	name string
	spec func(*modelv1.ModelBoxSpec)
}{
	{"seconds that are 0", func(spec *modelv1.ModelBoxSpec) { spec.MinReadySeconds = ptr.To[int32](0) }},
	{"a variable that is empty", framework.WithEnvs(framework.EnvValue("A", ""))},
	{"a variable from a field of the pod", framework.WithEnvs(framework.EnvFromName("A"))},
	{"a variable from a resource of the container", framework.WithEnvs(corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{
		ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"},
	}})},
	{"a variable from a key", framework.WithEnvs(corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "secret"}, Key: "key"},
	}})},
	{"a probe with nothing but a path", framework.WithReadinessProbe(framework.HTTPGet)},
	{"a probe by gRPC", framework.WithReadinessProbe(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}})},
	{"quantities that can be written in several ways", func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("0.5"), "memory": resource.MustParse("1024Mi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("2e9")},
		}
	}},
	{"limits without requests", func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Limits: framework.Resources("1", "1Gi")}
	}},
	{"a resource class", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeLarge }},
	{"a container with a port and a hook", func(spec *modelv1.ModelBoxSpec) {
		spec.Containers = []corev1.Container{{
			Name: "extra", Image: "busybox",
			Ports:     []corev1.ContainerPort{{ContainerPort: 9000}},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: framework.HTTPGet.HTTPGet}},
		}}
	}},
	{"a sidecar", func(spec *modelv1.ModelBoxSpec) {
		spec.InitContainers = []corev1.Container{{Name: "extra", Image: framework.Image, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	}},
	{"a security context that says nothing", func(spec *modelv1.ModelBoxSpec) {
		spec.Containers = []corev1.Container{{Name: "extra", Image: framework.Image, SecurityContext: &corev1.SecurityContext{}}}
	}},
	{"an empty directory", framework.WithVolume(framework.EmptyDir)},
	{"a volume of a config map", framework.WithVolume(framework.ConfigMap)},
	{"a volume of a secret", framework.WithVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret"}})},
	{"a volume of the host", framework.WithVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}})},
	{"a volume of the pod's own fields", framework.WithVolume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: framework.EnvFromName("").ValueFrom.FieldRef}},
	}})},
	{"a volume of several sources", framework.WithVolume(projected)},
	{"a volume that is claimed for each pod", framework.WithVolume(claimed)},
	{"a volume over the network", framework.WithVolume(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{
		TargetPortal: "10.0.0.1", IQN: "iqn.2001-04.com.example:storage",
	}})},
	{"an overlay of all that", framework.WithPodTemplate(corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "before", Image: framework.Image, Env: []corev1.EnvVar{framework.EnvFromName("POD")}}},
		Containers: []corev1.Container{
			{
				Name: "beside", Image: framework.Image,
				Ports:          []corev1.ContainerPort{{ContainerPort: 9000}},
				Env:            []corev1.EnvVar{framework.EnvValue("EMPTY", ""), framework.EnvFromName("POD")},
				StartupProbe:   &corev1.Probe{ProbeHandler: framework.HTTPGet},
				ReadinessProbe: &corev1.Probe{ProbeHandler: framework.TCPSocket},
				LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000}}},
				VolumeMounts:   []corev1.VolumeMount{{Name: "projected", MountPath: "/projected"}},
			},
		},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight:          1,
				PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}},
			}},
		}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		}},
		Tolerations:     []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
		SecurityContext: &corev1.PodSecurityContext{},
		Volumes: []corev1.Volume{
			{Name: "projected", VolumeSource: projected},
			{Name: "claimed", VolumeSource: claimed},
			{Name: "files", VolumeSource: framework.ConfigMap},
		},
	})},
	{"a Service with no address", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeHeadless }},
	{"a Service with node ports of the cluster's choice", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeNodePort }},
	{"a Service with a load balancer", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeLoadBalancer }},
}

// TestDefaultsOfTheClusterAreNoDrift checks that the defaults that the cluster adds to a spec do not look like a change of another
// client. Each box is created and changed once, which takes three writes of its children and no more.
func TestDefaultsOfTheClusterAreNoDrift(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	boxes := map[string]string{}
	for i, test := range completed {
		boxes[test.name] = n.CreateBox(framework.NewBox(fmt.Sprintf("box-%d", i), framework.WithReplicas(0), test.spec)).Name
	}
	for _, test := range completed {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, box := n.In(t), boxes[test.name]
			n.AwaitApplied(box)
			n.AwaitDeployment(box, "is settled", framework.CheckRolledOut)
			n.UpdateBox(box, func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{"--verbose"} })
			n.ExpectConverged(box)
			framework.ExpectEqual(t, "writes", []string{"patch deployments", "patch services", "patch deployments"}, n.Audit.ChildWrites(box))
		})
	}
}
