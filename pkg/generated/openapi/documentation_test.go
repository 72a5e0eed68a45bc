// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// storedKinds returns the types of the objects of this API. A kind that only requests an action has no spec.
func storedKinds() []reflect.Type {
	var kinds []reflect.Type
	for _, goType := range scheme.KnownTypes(modelv1.SchemeGroupVersion) {
		if _, hasSpec := goType.FieldByName("Spec"); isOfThisAPI(goType) && hasSpec {
			kinds = append(kinds, goType)
		}
	}
	return kinds
}

// documentedTypes returns the types that the API adds to the types of Kubernetes: its kinds, their lists, and the types of
// their fields.
func documentedTypes() []reflect.Type {
	var types []reflect.Type
	var add func(reflect.Type)
	add = func(goType reflect.Type) {
		switch {
		case goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice || goType.Kind() == reflect.Map:
			add(goType.Elem())
		case goType.Kind() == reflect.Struct && isOfThisAPI(goType) && !slices.Contains(types, goType):
			types = append(types, goType)
			for i := range goType.NumField() {
				add(goType.Field(i).Type)
			}
		}
	}
	for _, goType := range scheme.KnownTypes(modelv1.SchemeGroupVersion) {
		add(goType)
	}
	return types
}

func isOfThisAPI(goType reflect.Type) bool {
	return goType.PkgPath() == reflect.TypeFor[modelv1.ModelBox]().PkgPath()
}

func schemaOf(goType reflect.Type) spec.Schema {
	return definitions()[modelName(goType)].Schema
}

func modelName(goType reflect.Type) string {
	return reflect.Zero(goType).Interface().(util.OpenAPIModelNamer).OpenAPIModelName()
}

func definitions() map[string]common.OpenAPIDefinition {
	return openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) })
}

func TestDocumentedTypesAreAll(t *testing.T) {
	var documented, defined []string
	for _, goType := range documentedTypes() {
		documented = append(documented, modelName(goType))
	}
	prefix := strings.TrimSuffix(modelv1.ModelBox{}.OpenAPIModelName(), "ModelBox")
	for name := range definitions() {
		if strings.HasPrefix(name, prefix) {
			defined = append(defined, name)
		}
	}
	slices.Sort(documented)
	slices.Sort(defined)
	if !slices.Equal(documented, defined) {
		t.Errorf("the definitions of this API are %q, and %q are tested", defined, documented)
	}
}

// TestFieldsAreDocumented holds the descriptions to what `kubectl explain` is to tell: what each field is, whether it is
// required or what it defaults to, its unit, and an example.
func TestFieldsAreDocumented(t *testing.T) {
	for _, goType := range documentedTypes() {
		schema := schemaOf(goType)
		for name, property := range schema.Properties {
			if name == "apiVersion" || name == "kind" { // Kubernetes' own
				continue
			}
			t.Run(goType.Name()+"."+name, func(t *testing.T) {
				if !strings.HasPrefix(property.Description, name+" ") {
					t.Errorf("it does not begin with the name: %q", property.Description)
				}
				checkRequired(t, property.Description, slices.Contains(schema.Required, name))
				if property.Type.Contains("integer") {
					checkUnit(t, property.Description)
				}
				checkExample(t, goType, name, property.Description)
			})
		}
	}
}

func checkRequired(t *testing.T, description string, required bool) {
	t.Helper()
	if strings.Contains(description, " Required.") != required {
		t.Errorf("required is %v, and it is not what this says: %q", required, description)
	}
}

var unit = regexp.MustCompile(`\b(pods|boxes|components|addresses|bytes|VLAN|seconds|port number|generation|revision|fields|lines|logs|restarts|measurements|attempts|percentage|status code|step)\b`)

func checkUnit(t *testing.T, description string) {
	t.Helper()
	if !unit.MatchString(description) {
		t.Errorf("it does not say of what it is the number: %q", description)
	}
}

var exampleLine = regexp.MustCompile(`(?m)^Example: (.+)$`)

// example returns the field with the value that its description gives as an example.
func example(t *testing.T, name, description string) []byte {
	t.Helper()
	found := exampleLine.FindStringSubmatch(description)
	if found == nil {
		t.Fatalf("it has no line with an example: %q", description)
	}
	return []byte(name + ": " + found[1])
}

func checkExample(t *testing.T, goType reflect.Type, name, description string) {
	t.Helper()
	object := reflect.New(goType)
	if err := yaml.UnmarshalStrict(example(t, name, description), object.Interface()); err != nil {
		t.Errorf("its example is none: %v", err)
	}
	if object.Elem().IsZero() {
		t.Errorf("its example is no value: %q", description)
	}
}

// TestDefaultsAreDocumented compares the descriptions with what the spec of an empty object becomes.
func TestDefaultsAreDocumented(t *testing.T) {
	box := &modelv1.ModelBox{Status: modelv1.ModelBoxStatus{NodePorts: []modelv1.NodePort{{}}}}
	scheme.Default(box)
	defaulted := []any{box.Status.NodePorts[0]}
	for _, kind := range storedKinds() {
		object := reflect.New(kind)
		scheme.Default(object.Interface().(runtime.Object))
		defaulted = append(defaulted, object.Elem().FieldByName("Spec").Interface())
	}
	for _, defaulted := range defaulted {
		schema := schemaOf(reflect.TypeOf(defaulted))
		values := fields(t, defaulted)
		for name, property := range schema.Properties {
			if slices.Contains(schema.Required, name) {
				continue
			}
			t.Run(reflect.TypeOf(defaulted).Name()+"."+name, func(t *testing.T) {
				want := " Defaults"
				if value, ok := values[name]; ok {
					want = " Defaults to " + string(value) + "."
				}
				if !strings.Contains(property.Description, want) {
					t.Errorf("it does not say %q: %q", want, property.Description)
				}
			})
		}
	}
}

// fields returns the fields that have a value.
func fields(t *testing.T, object any) map[string]json.RawMessage {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestExamplesAreAccepted(t *testing.T) {
	properties := definitions()[modelv1.ModelBoxSpec{}.OpenAPIModelName()].Schema.Properties
	for name, property := range properties {
		t.Run(name, func(t *testing.T) {
			box := &modelv1.ModelBox{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault},
				Spec:       modelv1.ModelBoxSpec{Image: "nginx:1.7.9"},
			}
			// The examples mount the volumes of the example of volumes, and use the ports of the example of ports.
			needed := []string{"volumes", "ports"}
			switch name {
			case "podManagementPolicy":
				needed = append(needed, "workload")
			case "job", "cronJob":
				box.Spec.Workload, needed = modelv1.WorkloadCronJob, append(needed, "cronJob")
			}
			for _, field := range append(needed, name) {
				if err := yaml.Unmarshal(example(t, field, properties[field].Description), &box.Spec); err != nil {
					t.Fatal(err)
				}
			}
			scheme.Default(box)
			internal := &model.ModelBox{}
			if err := scheme.Convert(box, internal, nil); err != nil {
				t.Fatal(err)
			}
			if errs := validation.ValidateModelBox(t.Context(), internal); len(errs) > 0 {
				t.Errorf("the example is refused: %v\n%s", errs.ToAggregate(), property.Description)
			}
		})
	}
}

func TestExamplesOfStacksAreAccepted(t *testing.T) {
	for _, of := range []struct {
		goType any
		// field returns what the examples of the type are written to, in a stack that is valid without them.
		field func(*modelv1.ModelStack, string) any
	}{
		{modelv1.ModelStackSpec{}, func(stack *modelv1.ModelStack, _ string) any { return &stack.Spec }},
		{modelv1.ModelStackComponent{}, func(stack *modelv1.ModelStack, name string) any {
			component := &stack.Spec.Components[1]
			switch name {
			case "name": // equals the name of the other component
				stack.Spec.Components = stack.Spec.Components[1:]
			case "external":
				component.Box = nil
			}
			return component
		}},
		{modelv1.ModelStackExternal{}, func(stack *modelv1.ModelStack, _ string) any { return stack.Spec.Components[0].External }},
	} {
		for name, property := range schemaOf(reflect.TypeOf(of.goType)).Properties {
			t.Run(reflect.TypeOf(of.goType).Name()+"."+name, func(t *testing.T) {
				stack := &modelv1.ModelStack{
					ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: metav1.NamespaceDefault},
					Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
						{Name: "db", BoxName: "db", External: &modelv1.ModelStackExternal{Host: "db.example.com", Port: 3306}},
						{Name: "web", BoxName: "web", Box: &modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}},
					}},
				}
				if err := yaml.UnmarshalStrict(example(t, name, property.Description), of.field(stack, name)); err != nil {
					t.Fatal(err)
				}
				for i := range stack.Spec.Components {
					if component := &stack.Spec.Components[i]; component.BoxName == "" {
						component.BoxName = component.Name // by the server, when it is created
					}
				}
				scheme.Default(stack)
				internal := &model.ModelStack{}
				if err := scheme.Convert(stack, internal, nil); err != nil {
					t.Fatal(err)
				}
				if errs := validation.ValidateModelStack(t.Context(), internal); len(errs) > 0 {
					t.Errorf("the example is refused: %v\n%s", errs.ToAggregate(), property.Description)
				}
			})
		}
	}
}
