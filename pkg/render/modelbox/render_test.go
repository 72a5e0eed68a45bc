// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func TestRenderIsPure(t *testing.T) {
	for _, input := range goldenInputs(t) {
		for _, box := range readBoxes(t, input) {
			t.Run(input+"/"+box.Name, func(t *testing.T) {
				before := box.DeepCopy()
				first, second := encode(t, children(t, box)), encode(t, children(t, box))
				if first != second {
					t.Errorf("the same box was rendered in two ways:\n%s\n%s", first, second)
				}
				if diff := cmp.Diff(before, box); diff != "" {
					t.Errorf("rendering changed the box (-before +after):\n%s", diff)
				}
			})
		}
	}
}

func TestRenderHasNoEmptyFields(t *testing.T) {
	for _, input := range goldenInputs(t) {
		for _, box := range readBoxes(t, input) {
			for _, child := range children(t, box) {
				for _, path := range emptyFields(child.Object, box.Name+"/"+child.GetKind()) {
					t.Errorf("%s is rendered, although it says nothing", path)
				}
			}
		}
	}
}

// emptyFields returns the paths below value of what is null or has nothing in it, and of a divisor that is not given.
// emptyDir is the exception, since the choice of a union says something even when it is empty, and so is the storage class
// of a volume that is to have none. An empty selector or rule of a NetworkPolicy matches everything.
func emptyFields(value any, path string) []string {
	var empty []string
	switch value := value.(type) {
	case nil:
		return []string{path}
	case map[string]any:
		if len(value) == 0 {
			return []string{path}
		}
		for key, field := range value {
			if m, ok := field.(map[string]any); ok && len(m) == 0 && (key == "emptyDir" || key == "podSelector" || key == "namespaceSelector") {
				continue
			}
			if key == "storageClassName" && field == "" {
				continue
			}
			if key == "divisor" && field == "0" && strings.HasSuffix(path, ".resourceFieldRef") {
				empty = append(empty, path+"."+key)
			}
			empty = append(empty, emptyFields(field, path+"."+key)...)
		}
	case []any:
		if len(value) == 0 {
			return []string{path}
		}
		for i, item := range value {
			if rule, ok := item.(map[string]any); ok && len(rule) == 0 && strings.Contains(path, "/NetworkPolicy.spec.") {
				continue
			}
			empty = append(empty, emptyFields(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case string:
		if value == "" {
			return []string{path}
		}
	}
	return empty
}

// which children of a box get a new hash.
type changed struct {
	deployment, service bool
}

// webBox is a box of one port that leads to another one, and a container of another name.
func webBox(t *testing.T) *modelv1.ModelBox {
	t.Helper()
	box, err := decode([]byte(`
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: web, labels: {team: shop}}
spec:
  name: frontend
  image: nginx:1.7.9
  ports:
  - {port: 80, targetPort: 8080}
`))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestHashChangesWithTheSpec(t *testing.T) {
	deploymentOnly, serviceOnly, both := changed{deployment: true}, changed{service: true}, changed{true, true}
	neither := changed{}
	rows := []struct {
		field  string
		name   string
		change func(*modelv1.ModelBoxSpec)
		want   changed
	}{
		{"Name", "another container name, which is a label of both", func(s *modelv1.ModelBoxSpec) { s.Name = "backend" }, both},
		{"Image", "another image", func(s *modelv1.ModelBoxSpec) { s.Image = "nginx:1.8" }, deploymentOnly},
		{"Command", "a command", func(s *modelv1.ModelBoxSpec) { s.Command = []string{"sh"} }, deploymentOnly},
		{"Args", "arguments", func(s *modelv1.ModelBoxSpec) { s.Args = []string{"-v"} }, deploymentOnly},
		{"Replicas", "more replicas", func(s *modelv1.ModelBoxSpec) { s.Replicas = ptr.To[int32](2) }, deploymentOnly},
		{"Replicas", "no replicas", func(s *modelv1.ModelBoxSpec) { s.Replicas = ptr.To[int32](0) }, deploymentOnly},
		{"RollingUpdate", "another share", func(s *modelv1.ModelBoxSpec) { s.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromString("30%")) }, deploymentOnly},
		{"RollingUpdate", "a number", func(s *modelv1.ModelBoxSpec) { s.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromInt32(1)) }, deploymentOnly},
		{"RollingUpdate", "limits of their own", func(s *modelv1.ModelBoxSpec) {
			s.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))}
		}, deploymentOnly},
		{"Workload", "another workload", func(s *modelv1.ModelBoxSpec) { s.Workload = modelv1.WorkloadDaemonSet }, deploymentOnly},
		{"Job", "the limits of a Job", func(s *modelv1.ModelBoxSpec) { s.Job = &modelv1.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](1)} }, neither},
		{"CronJob", "a schedule", func(s *modelv1.ModelBoxSpec) { s.CronJob = &modelv1.ModelBoxCronJobSpec{Schedule: "@daily"} }, neither},
		{"Strategy", "another strategy", func(s *modelv1.ModelBoxSpec) { s.Strategy = modelv1.StrategyRecreate }, deploymentOnly},
		{"MinReadySeconds", "no time to be ready", func(s *modelv1.ModelBoxSpec) { s.MinReadySeconds = ptr.To[int32](0) }, deploymentOnly},
		{"ProgressDeadlineSeconds", "a deadline", func(s *modelv1.ModelBoxSpec) { s.ProgressDeadlineSeconds = ptr.To[int32](60) }, deploymentOnly},
		{"RevisionHistoryLimit", "fewer revisions", func(s *modelv1.ModelBoxSpec) { s.RevisionHistoryLimit = ptr.To[int32](1) }, deploymentOnly},
		{"Resize", "resizes in place", func(s *modelv1.ModelBoxSpec) { s.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOnly} }, neither},
		{"RestartOn", "restarts on changes of references", func(s *modelv1.ModelBoxSpec) { s.RestartOn = ptr.To(modelv1.RestartOnReferences) }, neither},
		{"PodManagementPolicy", "the order of a StatefulSet", func(s *modelv1.ModelBoxSpec) { s.PodManagementPolicy = ptr.To(modelv1.PodManagementParallel) }, neither},
		{"Rollout", "a rollback", func(s *modelv1.ModelBoxSpec) {
			s.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}
		}, neither},
		{"Ports", "another port with the same target", func(s *modelv1.ModelBoxSpec) { s.Ports[0].Port = 81 }, serviceOnly},
		{"Ports", "another target port", func(s *modelv1.ModelBoxSpec) { s.Ports[0].TargetPort = intstr.FromInt32(8081) }, both},
		{"Ports", "another protocol", func(s *modelv1.ModelBoxSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP }, both},
		{"Ports", "a port name, which is also the container port's", func(s *modelv1.ModelBoxSpec) { s.Ports[0].Name = "http" }, both},
		{"Ports", "a node port", func(s *modelv1.ModelBoxSpec) { s.Ports[0].NodePort = 30010 }, serviceOnly},
		{"Ports", "an application protocol", func(s *modelv1.ModelBoxSpec) { s.Ports[0].AppProtocol = ptr.To("http") }, serviceOnly},
		{"ServiceType", "a service type", func(s *modelv1.ModelBoxSpec) { s.ServiceType = modelv1.ServiceTypeHeadless }, serviceOnly},
		{"ServiceType", "the service type that it has anyway", func(s *modelv1.ModelBoxSpec) { s.ServiceType = modelv1.ServiceTypeClusterIP }, neither},
		{"Service", "what the Service has beyond", func(s *modelv1.ModelBoxSpec) {
			s.Service = &modelv1.ModelBoxService{SessionAffinity: corev1.ServiceAffinityClientIP}
		}, serviceOnly},
		{"Service", "labels of the Service", func(s *modelv1.ModelBoxSpec) {
			s.Service = &modelv1.ModelBoxService{Labels: map[string]string{"a": "1"}}
		}, serviceOnly},
		{"Service", "a Service with nothing in it", func(s *modelv1.ModelBoxSpec) { s.Service = &modelv1.ModelBoxService{} }, neither},
		{"Labels", "a label", func(s *modelv1.ModelBoxSpec) { s.Labels = map[string]string{"a": "1"} }, both},
		{"Annotations", "an annotation", func(s *modelv1.ModelBoxSpec) { s.Annotations = map[string]string{"a": "1"} }, both},
		{"ResourceType", "a resource class", func(s *modelv1.ModelBoxSpec) { s.ResourceType = modelv1.ResourceTypeSmall }, deploymentOnly},
		{"Resources", "resources", func(s *modelv1.ModelBoxSpec) { s.Resources = limits("1") }, deploymentOnly},
		{"Resources", "resources with nothing in them", func(s *modelv1.ModelBoxSpec) { s.Resources = &corev1.ResourceRequirements{} }, neither},
		{"Envs", "a variable", func(s *modelv1.ModelBoxSpec) { s.Envs = []corev1.EnvVar{{Name: "A", Value: "1"}} }, deploymentOnly},
		{"EnvFrom", "variables of a ConfigMap", func(s *modelv1.ModelBoxSpec) {
			s.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}}}}
		}, deploymentOnly},
		{"Containers", "a further container", func(s *modelv1.ModelBoxSpec) { s.Containers = []corev1.Container{{Name: "side", Image: "side:1"}} }, deploymentOnly},
		{"InitContainers", "an init container", func(s *modelv1.ModelBoxSpec) {
			s.InitContainers = []corev1.Container{{Name: "prepare", Image: "prepare:1"}}
		}, deploymentOnly},
		{"ReadinessProbe", "a readiness probe", func(s *modelv1.ModelBoxSpec) { s.ReadinessProbe = httpProbe() }, deploymentOnly},
		{"LivenessProbe", "a liveness probe", func(s *modelv1.ModelBoxSpec) { s.LivenessProbe = httpProbe() }, deploymentOnly},
		{"StartupProbe", "a startup probe", func(s *modelv1.ModelBoxSpec) { s.StartupProbe = httpProbe() }, deploymentOnly},
		{"DefaultProbes", "no injected probes", func(s *modelv1.ModelBoxSpec) { s.DefaultProbes = modelv1.DefaultProbesDisabled }, deploymentOnly},
		{"DisabledDefaultProbes", "no default startup probe", func(s *modelv1.ModelBoxSpec) {
			s.DisabledDefaultProbes = []modelv1.DefaultProbe{modelv1.DefaultProbeStartup}
		}, deploymentOnly},
		{"Volumes", "a volume", func(s *modelv1.ModelBoxSpec) {
			s.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, deploymentOnly},
		{"VolumeMounts", "a mount", func(s *modelv1.ModelBoxSpec) {
			s.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		}, deploymentOnly},
		{"Configs", "a config", func(s *modelv1.ModelBoxSpec) {
			s.Configs = []modelv1.ModelBoxConfig{{MountPath: "/etc/web", Data: map[string]string{"web.conf": ""}, Rollout: modelv1.ConfigRolloutRestart}}
		}, deploymentOnly},
		{"Storage", "a volume that outlives the pods", func(s *modelv1.ModelBoxSpec) {
			s.Storage = []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data", Retain: ptr.To(true)}}
		}, deploymentOnly},
		{"Ingress", "an Ingress", func(s *modelv1.ModelBoxSpec) { s.Ingress = &modelv1.ModelBoxIngress{} }, neither},
		{"Route", "an HTTPRoute", func(s *modelv1.ModelBoxSpec) { s.Route = &modelv1.ModelBoxRoute{} }, neither},
		{"GRPCRoute", "a GRPCRoute", func(s *modelv1.ModelBoxSpec) { s.GRPCRoute = &modelv1.ModelBoxGRPCRoute{} }, neither},
		{"Autoscaling", "an autoscaler", func(s *modelv1.ModelBoxSpec) {
			s.Autoscaling = &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 5, CPU: ptr.To[int32](70)}
		}, neither},
		{"NetworkPolicy", "a network policy", func(s *modelv1.ModelBoxSpec) {
			s.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{Egress: []networkingv1.NetworkPolicyEgressRule{{}}}
		}, neither},
		{"DisruptionBudget", "a disruption budget", func(s *modelv1.ModelBoxSpec) {
			s.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
		}, neither},
		{"Before", "a Job before", func(s *modelv1.ModelBoxSpec) { s.Before = &modelv1.ModelBoxJob{Args: []string{"migrate"}} }, neither},
		{"After", "a Job after", func(s *modelv1.ModelBoxSpec) { s.After = &modelv1.ModelBoxJob{Args: []string{"test"}} }, neither},
		{"Networks", "a network", func(s *modelv1.ModelBoxSpec) { s.Networks = []string{"lan"} }, deploymentOnly},
		{"IgnoreDrift", "fields of other managers", func(s *modelv1.ModelBoxSpec) {
			s.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{Deployment: []string{"spec.replicas"}}
		}, neither},
		{"ServiceAccountName", "a service account", func(s *modelv1.ModelBoxSpec) { s.ServiceAccountName = "web" }, deploymentOnly},
		{"ImagePullSecrets", "a pull secret", func(s *modelv1.ModelBoxSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}} }, deploymentOnly},
		{"PodTemplate", "an overlay", func(s *modelv1.ModelBoxSpec) {
			s.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}}
		}, deploymentOnly},
		{"PodTemplate", "an overlay with nothing in it", func(s *modelv1.ModelBoxSpec) { s.PodTemplate = &corev1.PodTemplateSpec{} }, neither},
		{"Paused", "a pause", func(s *modelv1.ModelBoxSpec) { s.Paused = true }, neither},
	}
	covered := map[string]bool{}
	for _, row := range rows {
		covered[row.field] = true
		t.Run(row.field+"/"+row.name, func(t *testing.T) {
			box := webBox(t)
			before := hashes(t, box)
			row.change(&box.Spec)
			after := hashes(t, box)
			got := changed{before["Deployment"] != after["Deployment"], before["Service"] != after["Service"]}
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
	for field := range reflect.TypeFor[modelv1.ModelBoxSpec]().Fields() {
		if !covered[field.Name] {
			t.Errorf("no row says what a change of spec.%s does to the hashes", field.Name)
		}
	}
}

func TestClaimIsRetainedForTheNextBoxOfTheName(t *testing.T) {
	for _, row := range []struct {
		name       string
		retain     bool
		wantOwners int
	}{
		{"a claim that is retained is of no box in particular", true, 0},
		{"a claim that is not retained goes with its box", false, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(t)
			box.Spec.Storage = []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data", RequestedSize: resource.MustParse("1Gi"), Retain: &row.retain}}
			before := hashes(t, box)["PersistentVolumeClaim"]
			box.UID = "another"
			if isSame := hashes(t, box)["PersistentVolumeClaim"] == before; isSame != row.retain {
				t.Errorf("the hash is the same for the next box: %t, want %t", isSame, row.retain)
			}
			for _, child := range children(t, box) {
				if owners := len(child.GetOwnerReferences()); child.GetKind() == "PersistentVolumeClaim" && owners != row.wantOwners {
					t.Errorf("the claim has %d owners, want %d", owners, row.wantOwners)
				}
			}
		})
	}
}

func TestHashIsOfTheSpecOnly(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
	}{
		{"a status", func(box *modelv1.ModelBox) { box.Status = modelv1.ModelBoxStatus{Replicas: 3, ObservedGeneration: 2} }},
		{"a label", func(box *modelv1.ModelBox) { box.Labels = map[string]string{"team": "mail", "tier": "web"} }},
		{"an annotation", func(box *modelv1.ModelBox) { box.Annotations = map[string]string{"note": "x"} }},
		{"a finalizer", func(box *modelv1.ModelBox) { box.Finalizers = []string{"example.com/keep"} }},
		{"an owner", func(box *modelv1.ModelBox) { box.OwnerReferences = []metav1.OwnerReference{{Name: "stack", UID: "1"}} }},
		{"a generation", func(box *modelv1.ModelBox) { box.Generation = 7 }},
		{"a resource version", func(box *modelv1.ModelBox) { box.ResourceVersion = "12" }},
		{"managed fields", func(box *modelv1.ModelBox) { box.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} }},
		{"a kind, which the cache leaves out", func(box *modelv1.ModelBox) { box.TypeMeta = metav1.TypeMeta{} }},
		{"a deletion", func(box *modelv1.ModelBox) { box.DeletionTimestamp = ptr.To(metav1.Now()) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(t)
			before := hashes(t, box)
			row.change(box)
			if diff := cmp.Diff(before, hashes(t, box)); diff != "" {
				t.Errorf("the hashes changed (-before +after):\n%s", diff)
			}
		})
	}
}

// A box that was deleted and created again may not take over what its predecessor left.
func TestHashIsOfOneBox(t *testing.T) {
	box := webBox(t)
	before := hashes(t, box)
	box.UID = "another"
	for kind, hash := range hashes(t, box) {
		if hash == before[kind] {
			t.Errorf("the %s of another box of the same name has the same hash", kind)
		}
	}
}

func TestHashIsOfTheMeaningOfAQuantity(t *testing.T) {
	box := webBox(t)
	box.Spec.Resources = limits("1")
	one := hashes(t, box)
	box.Spec.Resources = limits("1000m")
	if diff := cmp.Diff(one, hashes(t, box)); diff != "" {
		t.Errorf("1000m is not 1 (-1 +1000m):\n%s", diff)
	}
}

func TestHashOfWhatWasNeverRendered(t *testing.T) {
	if hash := render.Hash(&metav1.ObjectMeta{Annotations: map[string]string{"other": "x"}}); hash != "" {
		t.Errorf("got %q, want none", hash)
	}
}

func TestSelector(t *testing.T) {
	box := webBox(t)
	want := map[string]string{"modelbox": "web"}
	if diff := cmp.Diff(want, Selector(box)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func limits(cpu string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

func httpProbe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}}
}

// hashes returns the hash of each child of the box by its kind.
func hashes(t *testing.T, box *modelv1.ModelBox) map[string]string {
	t.Helper()
	byKind := map[string]string{}
	for _, child := range children(t, box) {
		if render.Hash(child) == "" {
			t.Errorf("the %s has no hash", child.GetKind())
		}
		byKind[child.GetKind()] = render.Hash(child)
	}
	return byKind
}

func encode(t *testing.T, children []*unstructured.Unstructured) string {
	t.Helper()
	data, err := json.Marshal(children)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A later release may have stored one.
func TestUnknownWorkloadIsNotRendered(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
	modelv1.SetObjectDefaults_ModelBox(box)
	if _, err := Children(box, ScaledByBox); err != nil {
		t.Fatal(err)
	}
	box.Spec.Workload = "Pod"
	if children, err := Children(box, ScaledByBox); err == nil {
		t.Errorf("got %d children", len(children))
	}
}
