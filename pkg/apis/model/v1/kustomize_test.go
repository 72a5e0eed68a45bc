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

// These tell kustomize which fields of a box and of a stack are images, names of other objects and so on. They follow from the
// types. After a change of those:
//
//	go test ./pkg/apis/model/v1 -run TestKustomizeConfiguration -update-kustomize
const (
	kustomizeConfiguration      = "../../../../artifacts/kustomize/modelbox.yaml"
	kustomizeStackConfiguration = "../../../../artifacts/kustomize/modelstack.yaml"
)

var updateKustomize = flag.Bool("update-kustomize", false, "rewrite the configuration of kustomize")

const kustomizeHeader = `# The fields of a ModelBox that kustomize knows of a Deployment. Generated from the types; a test compares it.
#
# Labels and annotations for everything reach the box and, by its overlay, the pods, whose selector stays what it is. A
# box is renamed with its Service, so what names either is renamed too. Not renamed is a container: with a namePrefix or
# nameSuffix, a box whose overlay is about its main container has to have a spec.name.
`

const kustomizeStackHeader = `# The fields of a ModelStack that kustomize knows in a Deployment. Generated from the types; a test compares it.
#
# Labels and annotations for everything reach the stack and not its pods: kustomize would give a box to components that have
# none. Boxes are not renamed with their stack where it gives them a boxName.
`

// transformerConfig is the part of kustomize's type of that name that a box or a stack needs.
type transformerConfig struct {
	Images            []fieldSpec     `json:"images"`
	Replicas          []fieldSpec     `json:"replicas,omitempty"`
	CommonLabels      []fieldSpec     `json:"commonLabels,omitempty"`
	TemplateLabels    []fieldSpec     `json:"templateLabels,omitempty"`
	CommonAnnotations []fieldSpec     `json:"commonAnnotations,omitempty"`
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
	fields := &namedFields{kind: "ModelBox", references: map[string][]fieldSpec{}}
	fields.walk(reflect.TypeFor[ModelBoxSpec](), "spec")
	fields.references["ModelBox"] = append(fields.references["ModelBox"], boxNames...)
	podLabels := []fieldSpec{createdBoxField("spec/podTemplate/metadata/labels")}
	config := transformerConfig{
		Images:            fields.images,
		Replicas:          []fieldSpec{createdBoxField("spec/replicas")},
		CommonLabels:      podLabels,
		TemplateLabels:    podLabels,
		CommonAnnotations: []fieldSpec{createdBoxField("spec/podTemplate/metadata/annotations")},
		NameReference:     fields.nameReferences(),
	}
	checkKustomizeConfiguration(t, kustomizeConfiguration, kustomizeHeader, config)
}

func TestKustomizeConfigurationOfStacks(t *testing.T) {
	fields := &namedFields{kind: "ModelStack", references: map[string][]fieldSpec{}}
	fields.walk(reflect.TypeFor[ModelStackSpec](), "spec")
	checkKustomizeConfiguration(t, kustomizeStackConfiguration, kustomizeStackHeader,
		transformerConfig{Images: fields.images, NameReference: fields.nameReferences()})
}

// checkKustomizeConfiguration compares the file with what it is to have, or writes it.
func checkKustomizeConfiguration(t *testing.T, file, header string, config transformerConfig) {
	t.Helper()
	data, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	want := header + string(data)
	if *updateKustomize {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s does not fit the types (-types +file):\n%s", file, diff)
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

// createdBoxField is one that kustomize creates in boxes that do not have it.
func createdBoxField(path string) fieldSpec {
	return fieldSpec{Path: path, Group: GroupName, Kind: "ModelBox", Create: true}
}

// namedFields are the fields of a kind that kustomize may change.
type namedFields struct {
	kind   string
	images []fieldSpec
	// references are the fields that hold the name of an object, by its kind.
	references map[string][]fieldSpec
}

// referenceTypes are the types whose field name is the name of an object.
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
	"secretName":            "Secret",
	"credentialsSecretName": "Secret",
	"claimName":             "PersistentVolumeClaim",
	"serviceAccountName":    "ServiceAccount",
	"serviceAccount":        "ServiceAccount",
	"priorityClassName":     "PriorityClass",
	"storageClassName":      "StorageClass",
}

// imageFields are the fields that are images, by the type they are in.
var imageFields = map[reflect.Type]string{
	reflect.TypeFor[ModelBoxSpec]():             "image",
	reflect.TypeFor[ModelBoxJob]():              "image",
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
			f.images = append(f.images, f.field(below))
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
	f.references[kind] = append(f.references[kind], f.field(path))
}

func (f *namedFields) field(path string) fieldSpec {
	return fieldSpec{Path: path, Group: GroupName, Kind: f.kind}
}

func (f *namedFields) nameReferences() []nameReference {
	return []nameReference{
		{metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, f.references["ConfigMap"]},
		{metav1.GroupVersionKind{Version: "v1", Kind: "Secret"}, f.references["Secret"]},
		{metav1.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, f.references["ServiceAccount"]},
		{metav1.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, f.references["PersistentVolumeClaim"]},
		{metav1.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}, f.references["StorageClass"]},
		{metav1.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, f.references["PriorityClass"]},
		{metav1.GroupVersionKind{Group: GroupName, Version: "v1", Kind: "ModelBox"}, f.references["ModelBox"]},
	}
}
