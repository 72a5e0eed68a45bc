// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func TestDeletesInOrder(t *testing.T) {
	for _, row := range []struct {
		name       string
		deletion   modelv1.ComponentOrder
		components []modelv1.ModelStackComponent
		want       bool
	}{
		{"components that depend on each other", modelv1.ComponentsOrdered, []modelv1.ModelStackComponent{{Name: "db"}, {Name: "web", DependsOn: []string{"db"}}}, true},
		{"components that do not", modelv1.ComponentsOrdered, []modelv1.ModelStackComponent{{Name: "db"}, {Name: "web"}}, false},
		{"components whose order does not count", modelv1.ComponentsParallel, []modelv1.ModelStackComponent{{Name: "db"}, {Name: "web", DependsOn: []string{"db"}}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack := &modelv1.ModelStack{Spec: modelv1.ModelStackSpec{Deletion: row.deletion, Components: row.components}}
			if got := DeletesInOrder(stack); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

// renderBox returns the box of the component web.
func renderBox(t *testing.T, box modelv1.ModelBoxSpec, isAutoscaled bool) *unstructured.Unstructured {
	t.Helper()
	stack := &modelv1.ModelStack{Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{{Name: "web", BoxName: "shop-web", Box: &box}}}}
	stack.Name, stack.Namespace = "shop", "default"
	children, err := NewRenderer(stack).Children(&stack.Spec.Components[0], isAutoscaled)
	if err != nil || len(children) != 1 {
		t.Fatalf("got %d children, %v", len(children), err)
	}
	return children[0]
}

func TestReplicasOfABoxThatIsAutoscaled(t *testing.T) {
	for _, row := range []struct {
		name         string
		replicas     *int32
		isAutoscaled bool
		want         any
		annotation   string
	}{
		{"a number of the stack", ptr.To[int32](4), false, int64(4), ""},
		{"none in the stack", nil, false, nil, ""},
		{"a number of the stack is left out", ptr.To[int32](4), true, nil, "4"},
		{"none in the stack are none", nil, true, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := renderBox(t, modelv1.ModelBoxSpec{Image: "nginx:1", Replicas: row.replicas}, row.isAutoscaled)
			replicas, _, _ := unstructured.NestedFieldNoCopy(box.Object, "spec", "replicas")
			if diff := cmp.Diff(row.want, replicas); diff != "" {
				t.Errorf("replicas, -want +got:\n%s", diff)
			}
			if got := box.GetAnnotations()[modelv1.AutoscaledAnnotation]; got != row.annotation {
				t.Errorf("got annotation %q, want %q", got, row.annotation)
			}
		})
	}
}

func TestHashOfABoxFollowsWhatTheStackSays(t *testing.T) {
	first := renderBox(t, modelv1.ModelBoxSpec{Image: "nginx:1"}, false)
	same := renderBox(t, modelv1.ModelBoxSpec{Image: "nginx:1"}, false)
	other := renderBox(t, modelv1.ModelBoxSpec{Image: "nginx:2"}, false)
	if render.Hash(first) == "" || render.Hash(first) != render.Hash(same) || render.Hash(first) == render.Hash(other) {
		t.Errorf("got %q, %q and %q", render.Hash(first), render.Hash(same), render.Hash(other))
	}
}
