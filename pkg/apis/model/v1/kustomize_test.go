// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// kustomizeConfiguration tells kustomize which fields of a box are images, names of other objects and so on. It follows
// from the types. After a change of those:
//
//	go test ./pkg/apis/model/v1 -run TestKustomizeConfiguration -update-kustomize
const kustomizeConfiguration = "../../../../artifacts/kustomize/modelbox.yaml"

var updateKustomize = flag.Bool("update-kustomize", false, "rewrite the configuration of kustomize")

const kustomizeHeader = `# The fields of a ModelBox as kustomize knows those of a Deployment. Generated from the types; a test compares it.
#
# Labels and annotations for everything reach the box and, by its overlay, the pods, whose selector stays what it is. A
# box is renamed with its Service, so what names either is renamed too. Not renamed is a container: with a namePrefix or
# nameSuffix, a box whose overlay is about its main container has to have a spec.name.
`

// transformerConfig is the part of kustomize's type of that name that a box needs.
type transformerConfig struct {
	Images            []fieldSpec     `json:"images"`
	Replicas          []fieldSpec     `json:"replicas"`
	CommonLabels      []fieldSpec     `json:"commonLabels"`
	TemplateLabels    []fieldSpec     `json:"templateLabels"`
	CommonAnnotations []fieldSpec     `json:"commonAnnotations"`
	NameReference     []nameReference `json:"nameReference"`
}

// nameReference says which fields hold the name of an object.
type nameReference struct {
	metav1.GroupVersionKind `json:",inline"`
	FieldSpecs              []fieldSpec `json:"fieldSpecs"`
}

type fieldSpec struct {
	Path   string `json:"path"`
	Group  string `json:"group,omitempty"`
	Kind   string `json:"kind"`
	Create bool   `json:"create,omitempty"`
}

func TestKustomizeConfiguration(t *testing.T) {
	fields := &namedFields{references: map[string][]fieldSpec{}}
	fields.walk(reflect.TypeFor[ModelBoxSpec](), "spec")
	podLabels := []fieldSpec{boxField("spec/podTemplate/metadata/labels", true)}
	config := transformerConfig{
		Images:            fields.images,
		Replicas:          []fieldSpec{boxField("spec/replicas", true)},
		CommonLabels:      podLabels,
		TemplateLabels:    podLabels,
		CommonAnnotations: []fieldSpec{boxField("spec/podTemplate/metadata/annotations", true)},
		NameReference: []nameReference{
			{metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, fields.references["ConfigMap"]},
			{metav1.GroupVersionKind{Version: "v1", Kind: "Secret"}, fields.references["Secret"]},
			{metav1.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, fields.references["ServiceAccount"]},
			{metav1.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, fields.references["PersistentVolumeClaim"]},
			{metav1.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}, fields.references["StorageClass"]},
			{metav1.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, fields.references["PriorityClass"]},
			{metav1.GroupVersionKind{Group: GroupName, Version: "v1", Kind: "ModelBox"}, append(fields.references["ModelBox"], boxNames...)},
		},
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	want := kustomizeHeader + string(data)
	if *updateKustomize {
		if err := os.WriteFile(kustomizeConfiguration, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(kustomizeConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s does not fit the types (-types +file):\n%s", kustomizeConfiguration, diff)
	}
}

// boxNames are the fields of other objects that hold the name of a box, of its Deployment or of its Service, or select
// its pods.
var boxNames = []fieldSpec{
	{Path: "spec/scaleTargetRef/name", Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
	{Path: "spec/defaultBackend/service/name", Group: "networking.k8s.io", Kind: "Ingress"},
	{Path: "spec/rules/http/paths/backend/service/name", Group: "networking.k8s.io", Kind: "Ingress"},
	{Path: "spec/rules/backendRefs/name", Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
	{Path: "spec/rules/backendRefs/name", Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"},
	{Path: "spec/selector/" + SelectorLabel, Kind: "Service"},
	{Path: "spec/selector/matchLabels/" + SelectorLabel, Group: "policy", Kind: "PodDisruptionBudget"},
	{Path: "spec/podSelector/matchLabels/" + SelectorLabel, Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	{Path: "spec/ingress/from/podSelector/matchLabels/" + SelectorLabel, Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	{Path: "spec/egress/to/podSelector/matchLabels/" + SelectorLabel, Group: "networking.k8s.io", Kind: "NetworkPolicy"},
}

func boxField(path string, create bool) fieldSpec {
	return fieldSpec{Path: path, Group: GroupName, Kind: "ModelBox", Create: create}
}

// namedFields are the fields of a box that kustomize may change.
type namedFields struct {
	images []fieldSpec
	// references are the fields that hold the name of an object, by its kind.
	references map[string][]fieldSpec
}

// referenceTypes are the types whose field name is that of an object.
var referenceTypes = map[reflect.Type]string{
	reflect.TypeFor[corev1.ConfigMapKeySelector]():  "ConfigMap",
	reflect.TypeFor[corev1.ConfigMapEnvSource]():    "ConfigMap",
	reflect.TypeFor[corev1.ConfigMapProjection]():   "ConfigMap",
	reflect.TypeFor[corev1.ConfigMapVolumeSource](): "ConfigMap",
	reflect.TypeFor[corev1.SecretKeySelector]():     "Secret",
	reflect.TypeFor[corev1.SecretEnvSource]():       "Secret",
	reflect.TypeFor[corev1.SecretProjection]():      "Secret",
	// In a pod these are secrets for pulling images and for mounting volumes.
	reflect.TypeFor[corev1.LocalObjectReference](): "Secret",
	reflect.TypeFor[corev1.SecretReference]():      "Secret",
}

// referenceNames are the fields that are the name of an object, whatever struct they are in.
var referenceNames = map[string]string{
	"secretName":         "Secret",
	"claimName":          "PersistentVolumeClaim",
	"serviceAccountName": "ServiceAccount",
	"serviceAccount":     "ServiceAccount",
	"priorityClassName":  "PriorityClass",
	"storageClassName":   "StorageClass",
}

// imageFields are the fields that are images, by the type they are in.
var imageFields = map[reflect.Type]string{
	reflect.TypeFor[ModelBoxSpec]():             "image",
	reflect.TypeFor[corev1.Container]():         "image",
	reflect.TypeFor[corev1.ImageVolumeSource](): "reference",
}

// podSelectors are the fields that select pods, by the type they are in.
var podSelectors = map[reflect.Type]string{
	reflect.TypeFor[corev1.PodAffinityTerm]():          "labelSelector",
	reflect.TypeFor[corev1.TopologySpreadConstraint](): "labelSelector",
}

// ignoredTypes hold nothing of the kind, or are refused in a box.
var ignoredTypes = []reflect.Type{reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[corev1.EphemeralContainer]()}

// walk collects the fields below a type that is at the path.
func (f *namedFields) walk(of reflect.Type, path string) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice}, of.Kind()) {
		of = of.Elem()
	}
	if kind := referenceTypes[of]; kind != "" {
		f.refer(kind, path+"/name")
		return
	}
	if of.Kind() != reflect.Struct || slices.Contains(ignoredTypes, of) {
		return
	}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path + "/" + name
		switch {
		case field.Anonymous:
			f.walk(field.Type, path)
		case name == "":
			continue // a field of the Go type only
		case imageFields[of] == name:
			f.images = append(f.images, boxField(below, false))
		case podSelectors[of] == name:
			f.refer("ModelBox", below+"/matchLabels/"+SelectorLabel)
		case referenceNames[name] != "":
			f.refer(referenceNames[name], below)
		default:
			f.walk(field.Type, below)
		}
	}
}

func (f *namedFields) refer(kind, path string) {
	f.references[kind] = append(f.references[kind], boxField(path, false))
}
