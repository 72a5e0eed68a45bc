// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package jsonform

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelfuzzer "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// objectTypes are the types of stored objects.
var objectTypes = map[string]reflect.Type{
	"ModelBox":    reflect.TypeFor[*model.ModelBox](),
	"ModelStack":  reflect.TypeFor[*model.ModelStack](),
	"Network":     reflect.TypeFor[*model.Network](),
	"PodDebugger": reflect.TypeFor[*model.PodDebugger](),
}

// impossible has no JSON form.
var impossible = intstr.IntOrString{Type: 51}

func probe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: impossible}}}
}

func TestFind(t *testing.T) {
	for _, row := range []struct {
		name string
		spec model.ModelBoxSpec
		// want is the error, empty for none.
		want string
	}{
		{"no value that can lack a form", model.ModelBoxSpec{Image: "nginx"}, ""},
		{"every possible type", model.ModelBoxSpec{
			RollingUpdate: &model.RollingUpdate{Type: model.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromString("30%")), MaxUnavailable: ptr.To(intstr.FromInt32(1))},
			Ports:         []corev1.ServicePort{{TargetPort: intstr.FromInt32(80)}, {TargetPort: intstr.FromString("http")}},
		}, ""},
		{"a rolling update", model.ModelBoxSpec{RollingUpdate: &model.RollingUpdate{Type: 51, StrVal: "30%"}}, "spec.rollingUpdate: its type is 51, but must be between 0 and 2"},
		{"the next type of a rolling update", model.ModelBoxSpec{RollingUpdate: &model.RollingUpdate{Type: 3}}, "spec.rollingUpdate: its type is 3, but must be between 0 and 2"},
		{"a negative type of a rolling update", model.ModelBoxSpec{RollingUpdate: &model.RollingUpdate{Type: -1}}, "spec.rollingUpdate: its type is -1, but must be between 0 and 2"},
		{"a limit of a rolling update", model.ModelBoxSpec{RollingUpdate: &model.RollingUpdate{Type: model.RollingUpdateObject, MaxUnavailable: &impossible}}, "spec.rollingUpdate.maxUnavailable: its type is 51, but must be between 0 and 1"},
		{"a limit of a rolling update that does not use it", model.ModelBoxSpec{RollingUpdate: &model.RollingUpdate{MaxSurge: &impossible}}, "spec.rollingUpdate.maxSurge: its type is 51, but must be between 0 and 1"},
		{"the next type of a port", model.ModelBoxSpec{Ports: []corev1.ServicePort{{}, {TargetPort: intstr.IntOrString{Type: 2}}}}, "spec.ports[1].targetPort: its type is 2, but must be between 0 and 1"},
		{"a negative type of a port", model.ModelBoxSpec{Ports: []corev1.ServicePort{{TargetPort: intstr.IntOrString{Type: -1}}}}, "spec.ports[0].targetPort: its type is -1, but must be between 0 and 1"},
		{"a disruption budget", model.ModelBoxSpec{DisruptionBudget: &model.ModelBoxDisruptionBudget{MinAvailable: &impossible}}, "spec.disruptionBudget.minAvailable: its type is 51, but must be between 0 and 1"},
		{"an ingress", model.ModelBoxSpec{Ingress: &model.ModelBoxIngress{Port: &impossible}}, "spec.ingress.port: its type is 51, but must be between 0 and 1"},
		{"a probe", model.ModelBoxSpec{LivenessProbe: probe()}, "spec.livenessProbe.httpGet.port: its type is 51, but must be between 0 and 1"},
		{"a probe of a container", model.ModelBoxSpec{Containers: []corev1.Container{{}, {ReadinessProbe: probe()}}}, "spec.containers[1].readinessProbe.httpGet.port: its type is 51, but must be between 0 and 1"},
		{"a lifecycle handler", model.ModelBoxSpec{InitContainers: []corev1.Container{{Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: impossible}}}}}}, "spec.initContainers[0].lifecycle.preStop.tcpSocket.port: its type is 51, but must be between 0 and 1"},
		{"the overlay", model.ModelBoxSpec{PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{
			{EphemeralContainerCommon: corev1.EphemeralContainerCommon{StartupProbe: probe()}},
		}}}}, "spec.podTemplate.spec.ephemeralContainers[0].startupProbe.httpGet.port: its type is 51, but must be between 0 and 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			expectError(t, Find(&model.ModelBox{Spec: row.spec}), row.want)
			served := &modelv1.ModelBox{}
			if err := modelv1.Convert_model_ModelBoxSpec_To_v1_ModelBoxSpec(&row.spec, &served.Spec, nil); err != nil {
				t.Fatal(err)
			}
			expectError(t, Find(served), row.want)
			stack := &model.ModelStack{Spec: model.ModelStackSpec{Components: []model.ModelStackComponent{{External: &model.ModelStackExternal{}}, {Box: &row.spec}}}}
			want := row.want
			if want != "" {
				want = "spec.components[1].box" + want[len("spec"):]
			}
			expectError(t, Find(stack), want)
		})
	}
}

func expectError(t *testing.T, err *Error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindInMetadata(t *testing.T) {
	managed := func(fields string) metav1.ObjectMeta {
		return metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: &metav1.FieldsV1{}}, {FieldsV1: metav1.NewFieldsV1(fields)}}}
	}
	inYear := func(year int) metav1.ObjectMeta {
		return metav1.ObjectMeta{CreationTimestamp: metav1.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)}
	}
	for _, row := range []struct {
		name string
		meta metav1.ObjectMeta
		want string
	}{
		{"nothing", metav1.ObjectMeta{}, ""},
		{"the year 0", inYear(0), ""},
		{"the year 9999", inYear(9999), ""},
		{"the year 10000", inYear(10000), "metadata.creationTimestamp: the year is 10000, but must be between 0 and 9999"},
		{"a negative year", inYear(-1), "metadata.creationTimestamp: the year is -1, but must be between 0 and 9999"},
		{"managed fields in JSON", managed(`{"f:spec":{}}`), ""},
		{"managed fields in CBOR", managed("\xa1\x46f:spec\xa0"), ""},
		{"managed fields in damaged JSON", managed(`{"f:spec":{}`), "metadata.managedFields[1].fieldsV1: it must be valid JSON"},
		{"managed fields in damaged CBOR", managed("\xa1\x46f:sp"), "metadata.managedFields[1].fieldsV1: it must be valid JSON"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, object := range []runtime.Object{
				&model.ModelBox{ObjectMeta: row.meta}, &model.ModelStack{ObjectMeta: row.meta}, &model.Network{ObjectMeta: row.meta}, &model.PodDebugger{ObjectMeta: row.meta},
			} {
				expectError(t, Find(object), row.want)
			}
		})
	}
}

// No type of the API has a value without a JSON form in a map, in a list of lists or in itself.
func TestFindInOtherTypes(t *testing.T) {
	type tree struct {
		Value    intstr.IntOrString `json:"value"`
		Children map[string]*tree   `json:"children"`
		Lists    [][]tree           `json:"lists"`
	}
	for _, row := range []struct {
		name   string
		object *tree
		want   string
	}{
		{"nothing", nil, ""},
		{"a map", &tree{Children: map[string]*tree{"b": {Value: impossible}}}, "children[b].value: its type is 51, but must be between 0 and 1"},
		{"a list in a list", &tree{Lists: [][]tree{nil, {{}, {Value: impossible}}}}, "lists[1][1].value: its type is 51, but must be between 0 and 1"},
		{"a map in a list", &tree{Lists: [][]tree{{{Children: map[string]*tree{"a": {}}}}}}, ""},
	} {
		t.Run(row.name, func(t *testing.T) { expectError(t, Find(row.object), row.want) })
	}
}

// random returns a function that fills objects with random values and managed fields.
func random(t *testing.T) func(runtime.Object) {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, modelfuzzer.Funcs), rand.NewSource(1), serializer.NewCodecFactory(scheme))
	return func(object runtime.Object) {
		filler.Fill(object)
		object.(metav1.Object).SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`)}})
	}
}

// breakValue replaces a value of a type in details by one without a JSON form, and returns a function that takes this back.
func breakValue(value reflect.Value) (repair func()) {
	before := reflect.New(value.Type()).Elem()
	before.Set(value)
	switch broken := value.Addr().Interface().(type) {
	case *intstr.IntOrString:
		broken.Type = 51
	case *model.RollingUpdate:
		broken.Type = 51
	case *metav1.Time:
		*broken = metav1.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	case *metav1.FieldsV1:
		broken.SetRawString("{a")
	default:
		panic(fmt.Sprintf("the test cannot break a %s", value.Type()))
	}
	return func() { value.Set(before) }
}

// eachValue calls visit for every value of a type in details. Unlike Find, it looks at every value.
func eachValue(value reflect.Value, visit func(reflect.Value)) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			eachValue(value.Elem(), visit)
		}
	case reflect.Slice:
		for i := range value.Len() {
			eachValue(value.Index(i), visit)
		}
	case reflect.Struct:
		if _, canBreak := details[value.Type()]; canBreak {
			visit(value)
		}
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				eachValue(value.Field(i), visit)
			}
		}
	}
}

// A random object has a JSON form. If one value loses it, this value is found.
func TestFindInRandomObjects(t *testing.T) {
	const objects = 200
	for kind, of := range objectTypes {
		t.Run(kind, func(t *testing.T) {
			fill := random(t)
			broken := map[reflect.Type]bool{}
			for range objects {
				object := reflect.New(of.Elem()).Interface().(runtime.Object)
				fill(object)
				if err := Find(object); err != nil {
					t.Fatalf("a random object is refused: %v", err)
				}
				if _, err := json.Marshal(object); err != nil {
					t.Fatal(err)
				}
				eachValue(reflect.ValueOf(object), func(value reflect.Value) {
					broken[value.Type()] = true
					repair := breakValue(value)
					if Find(object) == nil {
						t.Errorf("a broken %s is not found", value.Type())
					}
					repair()
				})
			}
			want := 2 // Time and FieldsV1
			if kind == "ModelBox" || kind == "ModelStack" {
				want = 4 // RollingUpdate and IntOrString as well
			}
			if len(broken) != want {
				t.Errorf("only values of the types %v were broken", broken)
			}
		})
	}
}

// A type that encodes itself as JSON may fail for some values, and no such type may be forgotten.
func TestTypesThatEncodeThemselvesAreKnown(t *testing.T) {
	marshaler := reflect.TypeFor[json.Marshaler]()
	safe := map[reflect.Type]bool{
		// A Quantity cannot be decoded from a string that is no quantity.
		reflect.TypeFor[resource.Quantity](): true,
	}
	seen := map[reflect.Type]bool{}
	var visit func(of reflect.Type)
	visit = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(of.Elem())
			return
		case reflect.Float32, reflect.Float64, reflect.Interface, reflect.Array:
			t.Errorf("values of the type %s may have no JSON form", of)
		case reflect.Struct:
			if reflect.PointerTo(of).Implements(marshaler) {
				if details[of] == nil && !safe[of] {
					t.Errorf("the type %s encodes itself", of)
				}
				return
			}
			for i := range of.NumField() {
				visit(of.Field(i).Type)
			}
		}
	}
	for _, of := range objectTypes {
		visit(of)
	}
	// Records have served types.
	visit(reflect.TypeFor[modelv1.ModelBox]())
	visit(reflect.TypeFor[modelv1.ModelStack]())
	visit(reflect.TypeFor[modelv1.Network]())
}

// Find runs for each object that is read from the store.
func TestFindAllocatesNothing(t *testing.T) {
	for kind, of := range objectTypes {
		t.Run(kind, func(t *testing.T) {
			object := reflect.New(of.Elem()).Interface().(runtime.Object)
			random(t)(object)
			if allocations := testing.AllocsPerRun(100, func() {
				if err := Find(object); err != nil {
					t.Fatal(err)
				}
			}); allocations > 0 {
				t.Errorf("it allocates %v times", allocations)
			}
		})
	}
}
