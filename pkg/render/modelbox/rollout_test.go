// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var (
	// ofBox are the fields of a box that a rollback leaves as they are, because no pod has anything of them.
	ofBox = []string{
		"Before", "After", "Job", "CronJob", "Replicas", "Strategy", "RollingUpdate", "MinReadySeconds", "ProgressDeadlineSeconds", "Rollout",
		"Autoscaling", "PodManagementPolicy", "RevisionHistoryLimit", "RestartOn", "Resize", "DisruptionBudget", "NetworkPolicy", "IgnoreDrift", "Paused", "ServiceType", "Service", "Ingress", "Route", "GRPCRoute",
	}
	// ofPods are those that it takes from before. Of storage there are the sizes of now, and of ports what no pod has anything of.
	ofPods = []string{
		"Name", "Image", "Command", "Args", "Workload", "Labels", "Annotations", "ResourceType", "Resources", "Envs", "EnvFrom",
		"Containers", "InitContainers", "ReadinessProbe", "LivenessProbe", "StartupProbe", "DefaultProbes", "DisabledDefaultProbes",
		"Volumes", "VolumeMounts", "Configs", "Storage", "Networks", "ServiceAccountName", "ImagePullSecrets", "PodTemplate", "Ports",
	}
)

func TestRolledBackBoxHasThePodsOfBefore(t *testing.T) {
	stable, box := webBox(t), webBox(t)
	box.Spec = modelv1.ModelBoxSpec{
		Image: "nginx:bad", Workload: stable.Spec.Workload, Replicas: ptr.To[int32](9), Strategy: modelv1.StrategyRecreate,
		MinReadySeconds: ptr.To[int32](7), ProgressDeadlineSeconds: ptr.To[int32](60), Rollout: &modelv1.ModelBoxRollout{},
		PodManagementPolicy: ptr.To(modelv1.PodManagementParallel), RevisionHistoryLimit: ptr.To[int32](1), RestartOn: ptr.To(modelv1.RestartOnReferences),
		Job: &modelv1.ModelBoxJobSpec{}, CronJob: &modelv1.ModelBoxCronJobSpec{}, Resize: &modelv1.ModelBoxResize{}, Autoscaling: &modelv1.ModelBoxAutoscaling{}, DisruptionBudget: &modelv1.ModelBoxDisruptionBudget{}, NetworkPolicy: &modelv1.ModelBoxNetworkPolicy{},
		Before: &modelv1.ModelBoxJob{}, After: &modelv1.ModelBoxJob{}, IgnoreDrift: &modelv1.ModelBoxIgnoreDrift{}, Paused: true, Labels: map[string]string{"a": "b"},
		ServiceType: modelv1.ServiceTypeNodePort, Service: &modelv1.ModelBoxService{}, Ingress: &modelv1.ModelBoxIngress{},
		Route: &modelv1.ModelBoxRoute{}, GRPCRoute: &modelv1.ModelBoxGRPCRoute{}, Ports: slices.Clone(stable.Spec.Ports),
	}
	box.Spec.Ports[0].TargetPort.IntVal = 9999
	rolledBack, err := rolledBackTo(box, stable)
	if err != nil {
		t.Fatal(err)
	}
	got := reflect.ValueOf(rolledBack.Spec)
	for i := range got.NumField() {
		name, want := got.Type().Field(i).Name, reflect.ValueOf(stable.Spec)
		switch {
		case slices.Contains(ofBox, name):
			want = reflect.ValueOf(box.Spec)
		case !slices.Contains(ofPods, name):
			t.Errorf("it is not said where a rollback takes %s from", name)
		}
		if diff := cmp.Diff(want.Field(i).Interface(), got.Field(i).Interface()); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
}

func TestServiceOfARolledBackBoxLeadsToItsPods(t *testing.T) {
	ports := func(target int32, changes ...func(*corev1.ServicePort)) []corev1.ServicePort {
		port := corev1.ServicePort{Port: 81, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(target), NodePort: 30011}
		for _, change := range changes {
			change(&port)
		}
		return []corev1.ServicePort{port}
	}
	udp := func(port *corev1.ServicePort) { port.Protocol = corev1.ProtocolUDP }
	for _, row := range []struct {
		name      string
		now, want []corev1.ServicePort
	}{
		{"another port of the Service", ports(8080), ports(8080)},
		{"another port of the pods", ports(9999), ports(8080)},
		{"a port that the pods do not have", append(ports(9999), ports(53, udp)...), ports(8080)},
		{"no port of the pods", ports(9999, udp), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			stable, box := webBox(t), webBox(t)
			box.Spec.Image, box.Spec.Ports, box.Spec.ServiceType = "nginx:bad", row.now, modelv1.ServiceTypeNodePort
			rolledBack, err := rolledBackTo(box, stable)
			if row.want == nil {
				if err == nil {
					t.Error("it can be rolled back")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, rolledBack.Spec.Ports); diff != "" {
				t.Errorf("ports, -want +got:\n%s", diff)
			}
			if rolledBack.Spec.ServiceType != modelv1.ServiceTypeNodePort {
				t.Errorf("the Service is a %s", rolledBack.Spec.ServiceType)
			}
		})
	}
}

// Only the port numbers matter here: requests to a port that the stable pods do not have fail, and all other requests are served.
func TestExposureOfARolledBackBox(t *testing.T) {
	stable, box := webBox(t), webBox(t)
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(number)}
	}
	stable.Spec.Ports = []corev1.ServicePort{port("http", 80)}
	box.Spec.Image = "nginx:bad"
	box.Spec.Ports = []corev1.ServicePort{port("admin", 9090), port("http", 80)}
	admin, number, http := ptr.To(intstr.FromString("admin")), ptr.To(intstr.FromInt32(9090)), ptr.To(intstr.FromString("http"))
	box.Spec.Ingress = &modelv1.ModelBoxIngress{Path: "/", Port: admin, Paths: []modelv1.ModelBoxIngressPath{{Path: "/a", Port: number}, {Path: "/b"}, {Path: "/c", Port: http}}}
	box.Spec.Route = &modelv1.ModelBoxRoute{Rules: []modelv1.RouteRule{{Port: admin}, {Port: number}, {}, {Port: http}}}
	box.Spec.GRPCRoute = &modelv1.ModelBoxGRPCRoute{Rules: []modelv1.GRPCRouteRule{{Port: admin}, {Port: number}, {}, {Port: http}}}

	rolledBack, err := rolledBackTo(box, stable)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{9090, 9090, 80, 80}
	var ofIngress, ofRoute, ofGRPCRoute []int32
	for _, path := range ingress(rolledBack).Spec.Rules[0].HTTP.Paths {
		ofIngress = append(ofIngress, *path.Backend.Service.Port.Number)
	}
	for _, rule := range httpRoute(rolledBack, 0).Spec.Rules {
		ofRoute = append(ofRoute, *rule.BackendRefs[0].Port)
	}
	for _, rule := range grpcRoute(rolledBack, 0).Spec.Rules {
		ofGRPCRoute = append(ofGRPCRoute, *rule.BackendRefs[0].Port)
	}
	got := map[string][]int32{"ingress": ofIngress, "route": ofRoute, "grpcRoute": ofGRPCRoute}
	if diff := cmp.Diff(map[string][]int32{"ingress": want, "route": want, "grpcRoute": want}, got); diff != "" {
		t.Errorf("ports, -want +got:\n%s", diff)
	}

	box.Spec.Route = &modelv1.ModelBoxRoute{Path: "/", Port: admin}
	if rolledBack, err = rolledBackTo(box, stable); err != nil || *httpRoute(rolledBack, 0).Spec.Rules[0].BackendRefs[0].Port != 9090 {
		t.Errorf("the route without rules: %v", err)
	}
	if *box.Spec.Route.Port != *admin {
		t.Errorf("the box has changed: its route has port %s", box.Spec.Route.Port)
	}
}

func TestRollbackKeepsStorage(t *testing.T) {
	storage := func(names ...string) (storage []modelv1.ModelBoxStorage) {
		for _, name := range names {
			storage = append(storage, modelv1.ModelBoxStorage{Name: name, MountPath: "/" + name, Retain: ptr.To(true),
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}})
		}
		return storage
	}
	for _, row := range []struct {
		name        string
		workload    modelv1.Workload
		before, now []modelv1.ModelBoxStorage
		isPossible  bool
	}{
		{"the same", modelv1.WorkloadStatefulSet, storage("a"), storage("a"), true},
		{"more of a Deployment", modelv1.WorkloadDeployment, storage("a"), storage("a", "b"), true},
		{"more of a StatefulSet", modelv1.WorkloadStatefulSet, storage("a"), storage("a", "b"), false},
		{"less", modelv1.WorkloadDeployment, storage("a", "b"), storage("a"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			stable, box := webBox(t), webBox(t)
			stable.Spec.Workload, box.Spec.Workload = row.workload, row.workload
			stable.Spec.Storage, box.Spec.Storage, box.Spec.Image = row.before, row.now, "nginx:bad"
			rolledBack, err := rolledBackTo(box, stable)
			if (err == nil) != row.isPossible {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			children, err := childrenOf(box, ScaledByBox, rolloutPlan{box: rolledBack})
			if err != nil {
				t.Fatal(err)
			}
			claims := 0
			for _, child := range children {
				if child.GetKind() == "PersistentVolumeClaim" {
					claims++
				}
			}
			if want := len(ClaimNames(box)); claims != want {
				t.Errorf("there are %d claims, want %d", claims, want)
			}
		})
	}
}

func TestPodsHash(t *testing.T) {
	hash := func(changes ...func(*modelv1.ModelBoxSpec)) string {
		box := webBox(t)
		box.Spec.Configs = []modelv1.ModelBoxConfig{{MountPath: "/a", Data: map[string]string{"a": "1"}, Rollout: modelv1.ConfigRolloutRestart}}
		for _, change := range changes {
			change(&box.Spec)
		}
		hash, err := PodsHash(box)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	live := func(spec *modelv1.ModelBoxSpec) { spec.Configs[0].Rollout = modelv1.ConfigRolloutLive }
	file := func(spec *modelv1.ModelBoxSpec) { spec.Configs[0].Data = map[string]string{"a": "2"} }
	for _, row := range []struct {
		name   string
		a, b   string
		isSame bool
	}{
		{"the same box", hash(), hash(), true},
		{"another number of pods", hash(), hash(func(spec *modelv1.ModelBoxSpec) { spec.Replicas = ptr.To[int32](9) }), true},
		{"another port of the Service", hash(), hash(func(spec *modelv1.ModelBoxSpec) { spec.Ports[0].Port = 81 }), true},
		{"another image", hash(), hash(func(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:2" }), false},
		{"another file", hash(), hash(file), false},
		{"another binary file", hash(), hash(func(spec *modelv1.ModelBoxSpec) { spec.Configs[0].BinaryData = map[string][]byte{"b": {1}} }), false},
		{"another file that replaces no pods", hash(live), hash(live, file), true},
	} {
		if (row.a == row.b) != row.isSame {
			t.Errorf("%s: %s and %s", row.name, row.a, row.b)
		}
	}
}
