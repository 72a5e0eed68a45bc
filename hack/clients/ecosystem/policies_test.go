// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPolicies(t *testing.T) {
	withImage := func(image string) *modelv1.ModelBox {
		box := box(2)
		box.Spec.Image = image
		return box
	}
	stackWithImage := func(image string) *modelv1.ModelStack {
		stack := stack(2)
		stack.Spec.Components[0].Box.Image = image
		return stack
	}
	withContainers := func(change func(spec *modelv1.ModelBoxSpec, containers []corev1.Container), image string) *modelv1.ModelBox {
		box := box(2)
		change(&box.Spec, []corev1.Container{{Name: "sidecar", Image: image}})
		return box
	}
	withType := func(resourceType modelv1.ResourceType) *modelv1.ModelBox {
		box := box(2)
		box.Spec.ResourceType = resourceType
		return box
	}
	stackWithType := func(resourceType modelv1.ResourceType) *modelv1.ModelStack {
		stack := stack(2)
		stack.Spec.Components[0].Box.ResourceType = resourceType
		return stack
	}
	const foreign = "docker.io/web:1"
	for _, test := range []struct {
		name, policy string
		object, old  runtime.Object
		allowed      bool
	}{
		{"a box of a given registry", "registries", box(2), nil, true},
		{"a box of another registry", "registries", withImage(foreign), nil, false},
		{"an image without a registry", "registries", withImage("nginx"), nil, false},
		{"a registry whose name only begins like a given one", "registries", withImage("registry.example.com.evil.example/web:1"), nil, false},
		{"a stack of a given registry", "registries", stack(2), nil, true},
		{"a stack of another registry", "registries", stackWithImage(foreign), nil, false},
		{"a sidecar", "registries", withContainers(func(spec *modelv1.ModelBoxSpec, c []corev1.Container) { spec.Containers = c }, foreign), nil, false},
		{"an init container", "registries", withContainers(func(spec *modelv1.ModelBoxSpec, c []corev1.Container) { spec.InitContainers = c }, foreign), nil, false},
		{"a container of the pod template", "registries", withContainers(func(spec *modelv1.ModelBoxSpec, c []corev1.Container) {
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: c}}
		}, foreign), nil, false},
		{"a container of the pod template without an image", "registries", withContainers(func(spec *modelv1.ModelBoxSpec, c []corev1.Container) {
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: c}}
		}, ""), nil, true},
		{"an init container of the pod template", "registries", withContainers(func(spec *modelv1.ModelBoxSpec, c []corev1.Container) {
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: c}}
		}, foreign), nil, false},
		{"an update to another registry", "registries", withImage(foreign), box(2), false},
		{"an update of an earlier box that keeps its spec", "registries", deleted(withImage(foreign)), withImage(foreign), true},
		{"a size class", "resource-type", box(2), nil, true},
		{"the default size", "resource-type", withType(modelv1.ResourceTypeCustom), nil, false},
		{"a stack of a size class", "resource-type", stack(2), nil, true},
		{"a stack with the default size", "resource-type", stackWithType(modelv1.ResourceTypeCustom), nil, false},
		{"an update of an earlier box that keeps its size", "resource-type", deleted(withType(modelv1.ResourceTypeCustom)), withType(modelv1.ResourceTypeCustom), true},
	} {
		t.Run(test.policy+" of "+test.name, func(t *testing.T) {
			if allowed := allows(t, readPolicy(t, test.policy), test.object, test.old); allowed != test.allowed {
				t.Errorf("the policy allows it: %t", allowed)
			}
		})
	}
}

// expression is one of a policy. A variable has a name.
type expression struct{ name, text string }

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType, cel.DynType} }

// allows evaluates the policy as a server does, with what the oldest Kubernetes knows that ModelBox supports.
func allows(t *testing.T, policy *admissionregistrationv1.ValidatingAdmissionPolicy, object, old runtime.Object) bool {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 33)))
	if err != nil {
		t.Fatal(err)
	}
	var variables []plugincel.NamedExpressionAccessor
	for _, variable := range policy.Spec.Variables {
		variables = append(variables, expression{variable.Name, variable.Expression})
	}
	compiler.CompileAndStoreVariables(variables, plugincel.OptionalVariableDeclarations{}, environment.NewExpressions)
	var conditions, validations []plugincel.ExpressionAccessor
	for _, condition := range policy.Spec.MatchConditions {
		conditions = append(conditions, expression{text: condition.Expression})
	}
	for _, validation := range policy.Spec.Validations {
		validations = append(validations, expression{text: validation.Expression})
	}
	return !areTrue(t, compiler, conditions, object, old) || areTrue(t, compiler, validations, object, old)
}

// areTrue returns whether all expressions are true of an object that is created, or updated from another.
func areTrue(t *testing.T, compiler *plugincel.CompositedCompiler, expressions []plugincel.ExpressionAccessor, object, old runtime.Object) bool {
	t.Helper()
	kind := object.GetObjectKind().GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	attributes := admission.NewAttributesRecord(object, old, kind, "shop", "web", resource, "", operation, nil, false, &user.DefaultInfo{Name: "author"})
	versioned := &admission.VersionedAttributes{
		Attributes: attributes, VersionedKind: kind,
		VersionedObject: admission.NewLazyObject(object), VersionedOldObject: admission.NewLazyObject(old),
	}
	request := plugincel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	results, _, err := compiler.CompileCondition(expressions, plugincel.OptionalVariableDeclarations{}, environment.NewExpressions).
		ForInput(compiler.CreateContext(t.Context()), versioned, request, plugincel.OptionalVariableBindings{}, nil, apiservercel.RuntimeCELCostBudget)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		if result.Error != nil {
			t.Fatal(result.Error)
		}
		if result.EvalResult != types.True {
			return false
		}
	}
	return true
}

// readPolicy returns the policy of an example, whose other object binds it.
func readPolicy(t *testing.T, name string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	var policy admissionregistrationv1.ValidatingAdmissionPolicy
	var binding admissionregistrationv1.ValidatingAdmissionPolicyBinding
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(readFile(t, artifacts+"/examples/policies/"+name+".yaml"))))
	for _, object := range []any{&policy, &binding} {
		document, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reader.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("there is more than a policy and its binding: %v", err)
	}
	if binding.Spec.PolicyName != policy.Name {
		t.Errorf("the binding is for %s, and not for %s", binding.Spec.PolicyName, policy.Name)
	}
	return &policy
}
