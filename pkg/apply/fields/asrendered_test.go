// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// TestFastPathOverlooksNothing changes all that there is in children of boxes, one thing at a time. Where the fast path says that a child
// is as rendered, a walk over all of its fields must find nothing either.
func TestFastPathOverlooksNothing(t *testing.T) {
	t.Parallel()
	compare := fixture.NewComparer()
	changed, unnoticed := 0, 0
	for _, file := range []string{
		"autoscaling", "configs", "containers", "daemonset", "disruption-budget", "envs-and-env-from", "image-pull-secrets", "ingress",
		"init-containers", "minimal", "pod-template", "ports-several", "probes-own", "replicas-zero", "service-options", "statefulset", "storage",
	} {
		for _, rendered := range goldenChildren(t, file) {
			name := file + ": " + rendered.GetKind()
			if is, err := compare.IsAsRendered(rendered, typed(t, rendered.Object)); err != nil || !is {
				t.Errorf("%s: it is as rendered, and needs a second look: %v", name, err)
			}
			forEachChange(rendered.Object, func(what string, object map[string]any) {
				live := typed(t, object)
				if live == nil {
					return // the API does not take it
				}
				changed++
				if is, err := compare.IsAsRendered(rendered, live); err != nil || !is {
					return
				}
				unnoticed++
				if found, err := fields.Find(compare, rendered, live); err != nil || !found.IsEmpty() || found.IsObstructed() {
					t.Errorf("%s: %s: the fast path overlooks %v, %v", name, what, fixture.Paths(found.Fields), err)
				}
			})
		}
	}
	t.Logf("of %d changes, %d are of what a render leaves to others", changed, unnoticed)
	if changed < 2000 || unnoticed == 0 {
		t.Errorf("of %d changes, %d are of what a render leaves to others", changed, unnoticed)
	}
}

// TestGlanceKnowsWhatARenderImplies finds what the Go types spell out that a render leaves out.
func TestGlanceKnowsWhatARenderImplies(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		for _, rendered := range goldenChildren(t, strings.TrimSuffix(filepath.Base(file), goldenSuffix)) {
			complete, err := fields.RoundTrip(rendered, typed(t, rendered.Object))
			if err != nil {
				t.Fatal(err)
			}
			delete(complete, "status")
			forEachImplied(rendered.GetKind(), rendered.Object, complete, func(path, name string, value any) {
				found[name] = true
				if !fields.IsImplied(name, value) {
					t.Errorf("%s: %s of %s implies %s: %v", file, rendered.GetName(), path, name, value)
				}
			})
		}
	}
	if !found["divisor"] {
		t.Errorf("found only %v", found)
	}
}

// forEachImplied calls implied with all that is in complete and not in the render, but for what is empty.
func forEachImplied(path string, rendered, complete any, implied func(path, name string, value any)) {
	switch complete := complete.(type) {
	case map[string]any:
		rendered, _ := rendered.(map[string]any)
		for name, value := range complete {
			fields, isMap := value.(map[string]any)
			if field, ok := rendered[name]; ok {
				forEachImplied(path+"."+name, field, value, implied)
			} else if value != nil && (!isMap || len(fields) > 0) {
				implied(path, name, value)
			}
		}
	case []any:
		rendered, _ := rendered.([]any)
		for i := range complete {
			forEachImplied(fmt.Sprintf("%s[%d]", path, i), rendered[i], complete[i], implied)
		}
	}
}

const goldenSuffix = ".golden.yaml"

func goldenFile(name string) string {
	return filepath.Join("../../render/modelbox/testdata", name+goldenSuffix)
}

// goldenChildren returns what is rendered for a box, but for kinds that client-go does not know.
func goldenChildren(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(goldenFile(file))
	if err != nil {
		t.Fatal(err)
	}
	var children []*unstructured.Unstructured
	decoder := yaml.NewYAMLToJSONDecoder(bytes.NewReader(data))
	for {
		child := &unstructured.Unstructured{}
		if err := decoder.Decode(child); errors.Is(err, io.EOF) {
			return children
		} else if err != nil {
			t.Fatal(err)
		}
		if scheme.Scheme.Recognizes(child.GroupVersionKind()) {
			children = append(children, child)
		}
	}
}

// typed returns the object as an informer has it, nil where it is none of its kind.
func typed(t *testing.T, object map[string]any) fields.Object {
	t.Helper()
	made, err := scheme.Scheme.New((&unstructured.Unstructured{Object: object}).GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, made); err != nil {
		return nil
	}
	return made.(fields.Object)
}

// forEachChange calls change with copies of the object, in each of which another thing was changed.
func forEachChange(object map[string]any, change func(what string, object map[string]any)) {
	for _, name := range []string{"metadata", "spec", "data"} {
		if value, ok := object[name]; ok {
			changeValue("."+name, value, func(what string, value any) {
				changed := runtime.DeepCopyJSON(object)
				changed[name] = value
				change(what, changed)
			})
		}
	}
}

// changeValue calls change with values in each of which one thing is not as in the given one.
func changeValue(path string, value any, change func(what string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		with := func(name string, field any) map[string]any {
			changed := runtime.DeepCopyJSON(value)
			changed[name] = field
			return changed
		}
		for name, field := range value {
			changeValue(path+"."+name, field, func(what string, field any) { change(what, with(name, field)) })
			without := runtime.DeepCopyJSON(value)
			delete(without, name)
			change(path+" without "+name, without)
		}
		change(path+" with one more name", with("more", "more"))
	case []any:
		for i, element := range value {
			changeValue(fmt.Sprintf("%s[%d]", path, i), element, func(what string, element any) {
				changed := runtime.DeepCopyJSONValue(value).([]any)
				changed[i] = element
				change(what, changed)
			})
		}
		reversed := slices.Clone(value)
		slices.Reverse(reversed)
		change(path+" reversed", reversed)
		change(path+" without the last", value[:len(value)-1])
		change(path+" with the first again", append(slices.Clone(value), value[0]))
	case string:
		change(path+" with another text", value+"x")
		change(path+" without a text", "")
	case int64:
		change(path+" with another number", value+1)
		change(path+" with zero", int64(0))
	case bool:
		change(path+" turned around", !value)
	}
}
