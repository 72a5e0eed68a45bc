// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// An update that fails half way leaves components that say that they need each other.
func TestComponentsThatAreTakenOutAndNeedEachOtherGo(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(f *testController)
		want [][]string
	}{
		{"out of the stack", func(f *testController) {
			f.update(func(stack *modelv1.ModelStack) {
				stack.Spec.Rollout = modelv1.ComponentsOrdered
				stack.Spec.Components = []modelv1.ModelStackComponent{boxComponent("web")}
			})
		}, [][]string{{"delete modelboxes c"}, {"delete modelboxes a", "delete modelboxes b"}}},
		{"with the stack", func(f *testController) {
			f.update(func(stack *modelv1.ModelStack) {
				stack.Spec.Rollout = modelv1.ComponentsOrdered
				stack.Spec.Components = []modelv1.ModelStackComponent{boxComponent("web"), boxComponent("job", "web")}
			})
			f.beginDeletion()
		}, [][]string{{"delete modelboxes c"}, {"delete modelboxes a", "delete modelboxes b"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack := newStack(boxComponent("a", "b"), boxComponent("b"), boxComponent("c", "a"))
			stack.Spec.Rollout = modelv1.ComponentsParallel
			f := newTestController(t, stack)
			f.settle()
			isRefused := true
			f.models.PrependReactor("patch", "modelboxes", func(action clienttesting.Action) (bool, runtime.Object, error) {
				isOfA := action.(clienttesting.PatchAction).GetName() == "a"
				return isRefused && isOfA, nil, apierrors.NewForbidden(modelv1.Resource("modelboxes"), "a", nil)
			})
			f.update(func(stack *modelv1.ModelStack) {
				stack.Spec.Components = []modelv1.ModelStackComponent{boxComponent("a"), boxComponent("b", "a"), boxComponent("c", "a")}
			})
			if _, err := f.Controller.ReconcileKey(t.Context(), shopKey); err == nil {
				t.Fatal("box a has been updated")
			}
			f.catchUp()
			row.end(f)
			var deleted [][]string
			for range 6 {
				writes := slices.DeleteFunc(f.reconcile(), func(write string) bool { return !strings.HasPrefix(write, "delete") })
				if len(writes) > 0 {
					slices.Sort(writes)
					deleted = append(deleted, writes)
				}
				if slices.Contains(f.boxes(), "web") {
					f.setReady("web")
				}
			}
			check(t, "deletions", row.want, deleted)
		})
	}
}
