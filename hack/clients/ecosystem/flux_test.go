// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// healthCheck is an item of spec.healthCheckExprs of a Kustomization.
type healthCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

func TestFluxHealthChecks(t *testing.T) {
	checks := fluxHealthChecks(t)
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			object := toUnstructured(t, example.object)
			check, found := checks[object.GetKind()]
			if found != (example.flux != "") {
				t.Fatalf("%s has expressions: %t", object.GetKind(), found)
			}
			if !found {
				return
			}
			if got := check.status(t, object); got != example.flux {
				t.Errorf("want %s, got %s", example.flux, got)
			}
		})
	}
}

// status evaluates the expressions in the order of Flux.
func (c healthCheck) status(t *testing.T, object *unstructured.Unstructured) kstatus.Status {
	t.Helper()
	observed, found, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if found && observed != object.GetGeneration() {
		return kstatus.InProgressStatus
	}
	for _, candidate := range []struct {
		expression string
		status     kstatus.Status
	}{
		{c.InProgress, kstatus.InProgressStatus},
		{c.Failed, kstatus.FailedStatus},
		{c.Current, kstatus.CurrentStatus},
	} {
		if evaluateForFlux(t, candidate.expression, object.Object) {
			return candidate.status
		}
	}
	return kstatus.InProgressStatus
}

// evaluateForFlux evaluates an expression as Flux does, which parses it without the types of the fields.
func evaluateForFlux(t *testing.T, expression string, object map[string]any) bool {
	t.Helper()
	environment, err := cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
	if err != nil {
		t.Fatal(err)
	}
	parsed, issues := environment.Parse(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := environment.Program(parsed)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(object)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	result, isBool := value.Value().(bool)
	if !isBool {
		t.Fatalf("%s is %v", expression, value)
	}
	return result
}

// fluxHealthChecks returns the health checks of the example, by kind.
func fluxHealthChecks(t *testing.T) map[string]healthCheck {
	t.Helper()
	var kustomization struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       struct {
			Interval         string            `json:"interval"`
			Timeout          string            `json:"timeout"`
			Path             string            `json:"path"`
			Prune            bool              `json:"prune"`
			Wait             bool              `json:"wait"`
			SourceRef        map[string]string `json:"sourceRef"`
			HealthCheckExprs []healthCheck     `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(readFile(t, artifacts+"/examples/flux.yaml"), &kustomization); err != nil {
		t.Fatal(err)
	}
	checks := map[string]healthCheck{}
	for _, check := range kustomization.Spec.HealthCheckExprs {
		if check.APIVersion != modelv1.SchemeGroupVersion.String() {
			t.Errorf("%s is for %s", check.Kind, check.APIVersion)
		}
		checks[check.Kind] = check
	}
	return checks
}
