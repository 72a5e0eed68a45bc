// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const customizations = "resource.customizations."

// resourceActions are the actions of a kind as Argo CD reads them.
type resourceActions struct {
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
}

// resourceAction is one of the actions that a discovery returns.
type resourceAction struct {
	Disabled  bool   `json:"disabled"`
	IconClass string `json:"iconClass"`
}

// ignoredDifferences are the ignored differences of a kind as Argo CD reads them.
type ignoredDifferences struct {
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
}

func TestArgoCDHealth(t *testing.T) {
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			object := toUnstructured(t, example.object)
			script := argoCDSettings(t)[customizations+"health.model.github.com_"+object.GetKind()]
			var got health
			convert(t, runLua(t, script, object.Object), &got)
			if diff := cmp.Diff(example.argocd, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestArgoCDHealthOfLastingReasons tries the reasons of the condition Applied with which the controller of a box sets Stalled as
// well.
func TestArgoCDHealthOfLastingReasons(t *testing.T) {
	script := argoCDSettings(t)[customizations+"health.model.github.com_Network"]
	for reason, want := range map[string]string{
		modelv1.ReasonNotOwned:          "Degraded",
		modelv1.ReasonForbidden:         "Degraded",
		modelv1.ReasonInvalid:           "Degraded",
		modelv1.ReasonRejected:          "Degraded",
		modelv1.ReasonNotServed:         "Degraded",
		modelv1.ReasonQuotaExceeded:     "Progressing",
		modelv1.ReasonConflict:          "Progressing",
		modelv1.ReasonChildBeingDeleted: "Progressing",
	} {
		object := network(ready(reason, ""), condition(modelv1.ConditionApplied, metav1.ConditionFalse, reason, ""))
		var got health
		convert(t, runLua(t, script, toUnstructured(t, object).Object), &got)
		if got.Status != want {
			t.Errorf("%s: want %s, got %s", reason, want, got.Status)
		}
	}
}

func TestArgoCDActionsAreEnabled(t *testing.T) {
	for _, test := range []struct {
		name   string
		object runtime.Object
		want   []string
	}{
		{"a box", box(2), []string{"pause", "restart"}},
		{"a box that is paused", paused(box(2)), []string{"resume"}},
		{"a box that is being deleted", deleted(box(2)), []string{"pause"}},
		{"a stack", stack(2), []string{"pause"}},
		{"a stack that is paused", pausedStack(), []string{"resume"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := toUnstructured(t, test.object)
			actions := argoCDActions(t, object.GetKind())
			var found map[string]resourceAction
			convert(t, runLua(t, actions.Discovery, object.Object), &found)
			var defined, enabled []string
			for _, definition := range actions.Definitions {
				defined = append(defined, definition.Name)
			}
			for name, action := range found {
				if !action.Disabled {
					enabled = append(enabled, name)
				}
				if !strings.HasPrefix(action.IconClass, "fa fa-fw fa-") {
					t.Errorf("action %s has the icon %q", name, action.IconClass)
				}
			}
			slices.Sort(defined)
			slices.Sort(enabled)
			if diff := cmp.Diff(defined, slices.Sorted(maps.Keys(found))); diff != "" {
				t.Errorf("the discovery (+) differs from the definitions (-):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, enabled); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestArgoCDActionsChangeTheSpec(t *testing.T) {
	for _, test := range []struct {
		name, action string
		object, want runtime.Object
	}{
		{"a box", "pause", box(2), paused(box(2))},
		{"a box that is paused", "resume", paused(box(2)), box(2)},
		{"a box", "restart", box(2), restarted(box(2))},
		{"a box that was restarted", "restart", restarted(box(2)), restarted(box(2))},
		{"a box with other annotations of pods", "restart", annotated(box(2)), restarted(annotated(box(2)))},
		{"a stack", "pause", stack(2), pausedStack()},
		{"a stack that is paused", "resume", pausedStack(), stack(2)},
	} {
		t.Run(test.action+" of "+test.name, func(t *testing.T) {
			object := toUnstructured(t, test.object)
			actions := argoCDActions(t, object.GetKind())
			var script string
			for _, definition := range actions.Definitions {
				if definition.Name == test.action {
					script = definition.Action
				}
			}
			changed, _ := runLua(t, script, object.Object).(map[string]any)
			annotation := []string{"spec", "podTemplate", "metadata", "annotations", modelv1.RestartedAtAnnotation}
			if at, found, _ := unstructured.NestedString(changed, annotation...); found {
				restartedAt, err := time.Parse(time.RFC3339, at)
				if age := time.Since(restartedAt); err != nil || age < -time.Minute || age > time.Minute || !strings.HasSuffix(at, "Z") {
					t.Errorf("the box was restarted at %q: %v", at, err)
				}
				if err := unstructured.SetNestedField(changed, "now", annotation...); err != nil {
					t.Fatal(err)
				}
			}
			// As the server reads it.
			got := reflect.New(reflect.TypeOf(test.want).Elem()).Interface()
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(changed, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestArgoCDSettingsAreKnown keeps misspelled keys from being ignored.
func TestArgoCDSettingsAreKnown(t *testing.T) {
	kinds := modelv1Kinds(t)
	for key, value := range argoCDSettings(t) {
		rest, ok := strings.CutPrefix(key, customizations)
		setting, kind, _ := strings.Cut(rest, ".model.github.com_")
		if !ok || !slices.Contains(kinds, kind) {
			t.Errorf("%s is for no kind of the API", key)
		}
		var err error
		switch setting {
		case "health":
		case "actions":
			err = yaml.UnmarshalStrict([]byte(value), &resourceActions{})
		case "ignoreDifferences":
			err = yaml.UnmarshalStrict([]byte(value), &ignoredDifferences{})
		default:
			t.Errorf("%s is for no setting", key)
		}
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestArgoCDComponentAddsToTheConfigMap(t *testing.T) {
	files := filesys.MakeFsInMemory()
	for path, content := range map[string]string{
		"install/kustomization.yaml":  "resources: [argocd-cm.yaml]\ncomponents: [../modelbox]\n",
		"install/argocd-cm.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {url: https://argocd.example.com}\n",
		"modelbox/kustomization.yaml": string(readFile(t, artifacts+"/argocd/kustomization.yaml")),
		"modelbox/argocd-cm.yaml":     string(readFile(t, artifacts+"/argocd/argocd-cm.yaml")),
	} {
		if err := files.WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "install")
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &configMap); err != nil {
		t.Fatal(err)
	}
	want := argoCDSettings(t)
	want["url"] = "https://argocd.example.com"
	if diff := cmp.Diff(want, configMap.Data); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func argoCDSettings(t *testing.T) map[string]string {
	t.Helper()
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(readFile(t, artifacts+"/argocd/argocd-cm.yaml"), &configMap); err != nil {
		t.Fatal(err)
	}
	return configMap.Data
}

func argoCDActions(t *testing.T, kind string) resourceActions {
	t.Helper()
	var actions resourceActions
	if err := yaml.UnmarshalStrict([]byte(argoCDSettings(t)[customizations+"actions.model.github.com_"+kind]), &actions); err != nil {
		t.Fatal(err)
	}
	return actions
}

// modelv1Kinds returns the kinds of objects that the server stores.
func modelv1Kinds(t *testing.T) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := modelv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for kind := range scheme.KnownTypes(modelv1.SchemeGroupVersion) {
		if base, isList := strings.CutSuffix(kind, "List"); isList {
			kinds = append(kinds, base)
		}
	}
	return kinds
}

func pausedStack() *modelv1.ModelStack {
	stack := stack(2)
	stack.Spec.Paused = true
	return stack
}

// restarted returns the box with "now" in place of a time.
func restarted(box *modelv1.ModelBox) *modelv1.ModelBox {
	if box.Spec.PodTemplate == nil {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
	}
	metav1.SetMetaDataAnnotation(&box.Spec.PodTemplate.ObjectMeta, modelv1.RestartedAtAnnotation, "now")
	return box
}

func annotated(box *modelv1.ModelBox) *modelv1.ModelBox {
	box.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}}
	return box
}

// convert decodes a value into a struct without further fields.
func convert(t *testing.T, value, into any) {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatal(err)
	}
}
