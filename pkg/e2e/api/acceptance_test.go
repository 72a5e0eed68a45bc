// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	randomBoxes = 400
	// changesOfABox is the maximum number of changes of a random box. With more changes, few boxes would be valid.
	changesOfABox = 3
)

// TestAcceptedBoxesHaveAcceptedChildren creates random valid and invalid boxes. kube-apiserver must accept the children of all
// boxes that the server accepts. The seeds are fixed, so that failures are reproducible.
func TestAcceptedBoxesHaveAcceptedChildren(t *testing.T) {
	t.Parallel()
	expectAcceptedChildren(t, randomBox)
}

// expectAcceptedChildren checks the children of all random boxes that the server accepts.
func expectAcceptedChildren(t *testing.T, random func(seed uint64) *modelv1.ModelBox) {
	t.Helper()
	n := framework.NewNamespace(t)
	accepted := 0
	for seed := range uint64(randomBoxes) {
		box, err := n.Boxes.Create(n.Ctx, random(seed), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsInvalid(err) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		accepted++
		if err := dryRunChildren(n, box); err != nil && !isOfLaterValue(n, err) {
			t.Errorf("seed %d: the box was accepted, and then: %v\n%+v", seed, err, box.Spec)
		}
	}
	t.Logf("%d of %d boxes were accepted", accepted, randomBoxes)
	if accepted < randomBoxes/5 || accepted > randomBoxes*4/5 {
		t.Errorf("%d of %d boxes were accepted: the random boxes are too bad, or too good, to say much", accepted, randomBoxes)
	}
}

// laterValues are values that not every supported version of Kubernetes accepts, each with the error of earlier versions. Boxes may
// have them in any cluster: the condition Applied then has the error of the cluster.
var laterValues = []struct{ since, refusal string }{
	{"1.34", `spec.trafficDistribution: Unsupported value: "PreferSameNode"`},
	{"1.34", `spec.trafficDistribution: Unsupported value: "PreferSameZone"`},
}

// isOfLaterValue returns whether the cluster refused a child because of a value of a later version of Kubernetes.
func isOfLaterValue(n *framework.Namespace, err error) bool {
	for _, value := range laterValues {
		if strings.Contains(err.Error(), value.refusal) && n.ControlPlane.IsBefore(n.T, value.since) {
			return true
		}
	}
	return false
}

// dryRunChildren applies the children of a box to kube-apiserver without storing them.
func dryRunChildren(n *framework.Namespace, box *modelv1.ModelBox) error {
	children, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := applyChild(n, child, metav1.DryRunAll); err != nil {
			return err
		}
	}
	return nil
}

// applyChild applies a child to kube-apiserver as the controller does, and stores it unless it is a dry run.
func applyChild(n *framework.Namespace, child *unstructured.Unstructured, dryRun ...string) error {
	client, err := dynamic.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		return err
	}
	data, err := child.MarshalJSON()
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(child.GroupVersionKind())
	options := metav1.PatchOptions{FieldManager: render.FieldManager, DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict}
	_, err = client.Resource(resource).Namespace(n.Name).Patch(n.Ctx, child.GetName(), types.ApplyPatchType, data, options)
	return err
}

func randomBox(seed uint64) *modelv1.ModelBox {
	random := rand.New(rand.NewPCG(seed, 0))
	box := framework.NewBox("web")
	for range 1 + random.IntN(changesOfABox) {
		randomChanges[random.IntN(len(randomChanges))](random, &box.Spec)
	}
	return box
}

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// randomChanges are changes of a box. Some are invalid, and some are invalid only in combination.
var randomChanges = []func(*rand.Rand, *modelv1.ModelBoxSpec){
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Name = pick(r, "app", "a-b", "web", "Upper", "dot.ted", "side")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Image = pick(r, "nginx", "example.org/a/b:1", " nginx", "a:b@c")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.Replicas = ptr.To(pick[int32](r, 0, 1, 100, -1)) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.RollingUpdate = modelv1.NewRollingUpdate(intstr.Parse(pick(r, "1%", "100%", "3", "0%", "101%", "0", "-1", "half", "5")))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		limit := func() *intstr.IntOrString {
			return ptr.To(intstr.Parse(pick(r, "0", "1", "3", "0%", "30%", "100%", "101%", "-1", "half")))
		}
		s.Strategy = pick(r, modelv1.StrategyRollingUpdate, modelv1.StrategyRecreate, "OnDelete")
		s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: limit(), MaxUnavailable: limit()}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.MinReadySeconds = ptr.To(pick[int32](r, 0, 599, 600, -1))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.ServiceType = pick(r, modelv1.ServiceTypeClusterIP, modelv1.ServiceTypeHeadless, modelv1.ServiceTypeLoadBalancer, modelv1.ServiceTypeNodePort, "ExternalName")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Ports = append(s.Ports, corev1.ServicePort{
			Name:       pick(r, "", "http", "a-name-that-is-longer-than-15", "UPPER", "tcp-80"),
			Port:       pick[int32](r, 80, 81, 443, 65535, 65536, 0),
			Protocol:   pick(r, "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP, "HTTP"),
			TargetPort: pick(r, intstr.FromInt32(0), intstr.FromInt32(8080), intstr.FromString("http"), intstr.FromString("side"), intstr.FromInt32(70000)),
		})
	},
	func(_ *rand.Rand, s *modelv1.ModelBoxSpec) { s.Ports = nil },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.ResourceType = pick(r, modelv1.ResourceTypeSmall, modelv1.ResourceTypeLarge, modelv1.ResourceTypeCustom, "huge")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		list := func() corev1.ResourceList {
			return corev1.ResourceList{pick[corev1.ResourceName](r, "cpu", "memory", "example.com/gpu", "hugepages-2Mi", "pods"): pick(r, resource.MustParse("1"), resource.MustParse("1500m"), resource.MustParse("2Mi"), resource.MustParse("-1"))}
		}
		s.Resources = &corev1.ResourceRequirements{Requests: list(), Limits: list()}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Envs = append(s.Envs, corev1.EnvVar{Name: pick(r, "A", "B", "with space", "a=b", ""), Value: pick(r, "", "1")})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Envs = append(s.Envs, corev1.EnvVar{Name: "FROM", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: pick(r, "metadata.name", "status.podIP", "spec.nodeName", "metadata.labels['a']", "metadata.owner")}}})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.EnvFrom = append(s.EnvFrom, corev1.EnvFromSource{
			Prefix:       pick(r, "", "P_", "=", "a b"),
			ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: pick(r, "settings", "Settings", "")}}})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.Containers = append(s.Containers, randomContainer(r)) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		container := randomContainer(r)
		container.RestartPolicy = pick(r, nil, ptr.To(corev1.ContainerRestartPolicyAlways), ptr.To[corev1.ContainerRestartPolicy]("Sometimes"))
		s.InitContainers = append(s.InitContainers, container)
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.ReadinessProbe = randomProbe(r) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.LivenessProbe = randomProbe(r) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) { s.StartupProbe = randomProbe(r) },
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.DefaultProbes = pick(r, modelv1.DefaultProbesDisabled, modelv1.DefaultProbesEnabled, "Sometimes")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: pick(r, "data", "logs", "Data"), VolumeSource: pick(r,
			corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
			corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: pick(r, "/tmp", "", "/a/../b")}},
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Items: []corev1.KeyToPath{{Key: pick(r, "k", "no/key"), Path: pick(r, "p", "/p", "../p")}}}},
			corev1.VolumeSource{})})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.VolumeMounts = append(s.VolumeMounts, corev1.VolumeMount{
			Name: pick(r, "data", "logs", "none"), MountPath: pick(r, "/data", "/logs", "relative", ""), SubPath: pick(r, "", "a", "../a", "/a")})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.ServiceAccountName = pick(r, "default", "Default", "a.b")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: pick(r, "registry", "other", "Registry")})
	},
	func(r *rand.Rand, s *modelv1.ModelBoxSpec) {
		s.PodTemplate = &corev1.PodTemplateSpec{Spec: pick(r,
			corev1.PodSpec{NodeSelector: map[string]string{pick(r, "disk", "no key"): "ssd"}},
			corev1.PodSpec{HostNetwork: true},
			corev1.PodSpec{DNSPolicy: pick(r, corev1.DNSNone, corev1.DNSDefault)},
			corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: pick(r, "", "a"), Operator: pick(r, corev1.TolerationOpExists, corev1.TolerationOpEqual), Value: pick(r, "", "b")}}},
			corev1.PodSpec{Containers: []corev1.Container{{Name: pick(r, "web", "side", "new"), Image: pick(r, "", "other")}}},
			corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To(pick[int64](r, 0, 60, -1))},
			corev1.PodSpec{PriorityClassName: pick(r, "system-node-critical", "Bad"), RestartPolicy: pick(r, "", corev1.RestartPolicyAlways, corev1.RestartPolicyNever)})}
	},
}

func randomContainer(r *rand.Rand) corev1.Container {
	return corev1.Container{
		Name:  pick(r, "side", "other", "web"),
		Image: pick(r, "busybox:1", "busybox:1", ""),
		Ports: pick(r, nil, []corev1.ContainerPort{{Name: pick(r, "side", "http", ""), ContainerPort: pick[int32](r, 8080, 9090, 0)}}),
		SecurityContext: pick(r, nil, &corev1.SecurityContext{
			Privileged: ptr.To(pick(r, true, false)), AllowPrivilegeEscalation: ptr.To(pick(r, true, false))}),
		Lifecycle: pick(r, nil, nil, &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: pick[int64](r, 5, 31, 0)}}}),
	}
}

func randomProbe(r *rand.Rand) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: pick(r,
			corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: pick(r, "/", ""), Port: pick(r, intstr.FromInt32(80), intstr.FromString("http"))}},
			corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(pick[int32](r, 80, 0))}},
			corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: pick(r, []string{"true"}, nil)}},
			corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}},
			corev1.ProbeHandler{}),
		PeriodSeconds:                 pick[int32](r, 0, 5, -1),
		SuccessThreshold:              pick[int32](r, 0, 1, 2),
		TerminationGracePeriodSeconds: pick(r, nil, nil, ptr.To[int64](5)),
	}
}
