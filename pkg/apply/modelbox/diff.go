// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Differ shows what the controller plans for the children of boxes.
type Differ struct {
	planner *apply.Planner[*modelv1.ModelBox]
}

// NewDiffer returns a Differ. It knows no answers of the cluster: a field that the cluster does not accept is one that differs.
func NewDiffer() *Differ {
	return &Differ{&apply.Planner[*modelv1.ModelBox]{Owners: Owners(), Comparer: fields.NewComparer(fields.NewTypeConverter())}}
}

// Diff compares the live children with the rendered ones of the box, in their order, and after them come those that the box asks
// for no more. It has all fields that differ, and no effects.
func (d *Differ) Diff(box *modelv1.ModelBox, rendered []*unstructured.Unstructured, live *LiveChildren) ([]modelv1.ModelBoxChildDiff, error) {
	var kinds []*apply.Kind
	resources := map[schema.GroupVersionKind]schema.GroupResource{}
	for _, kind := range childkinds.All() {
		resources[kind.GroupVersionKind] = kind.GroupResource()
		if !live.hidden[kind.GroupVersionKind] && !live.notServed[kind.GroupVersionKind] {
			planned := Kind(kind)
			kinds = append(kinds, &planned)
		}
	}
	steps, err := d.planner.Plan(box, kinds, rendered, live)
	if err != nil {
		return nil, fmt.Errorf("comparing the children: %w", err)
	}
	planned := map[childName]apply.Step{}
	for _, s := range steps {
		planned[childName{s.Kind.GroupVersionKind, s.Name()}] = s
	}
	var diffs []modelv1.ModelBoxChildDiff
	for _, child := range rendered {
		diff, kind := newDiff(child.GroupVersionKind(), child.GetName()), child.GroupVersionKind()
		resource, isKnown := resources[kind]
		switch {
		case !isKnown:
			return nil, fmt.Errorf("boxes have no children of the kind %s", child.GetKind())
		case live.hidden[kind]:
			diff.Action, diff.Message = modelv1.DiffActionUnknown, fmt.Sprintf("not shown: you may not get %s", resource)
		case live.notServed[kind]:
			diff.Action, diff.Message = modelv1.DiffActionRefuse, fmt.Sprintf("the cluster does not serve %s", resource)
		default:
			if err := d.describe(&diff, box, child, planned[childName{kind, child.GetName()}]); err != nil {
				return nil, err
			}
		}
		diffs = append(diffs, diff)
	}
	for _, s := range steps {
		if s.Operation == apply.Prune {
			diff := newDiff(s.Kind.GroupVersionKind, s.Name())
			diff.Action = modelv1.DiffActionDelete
			diffs = append(diffs, diff)
		}
	}
	return diffs, nil
}

func newDiff(kind schema.GroupVersionKind, name string) modelv1.ModelBoxChildDiff {
	return modelv1.ModelBoxChildDiff{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name, Action: modelv1.DiffActionNone}
}

// describe says what a step does to the child that the box has rendered.
func (d *Differ) describe(diff *modelv1.ModelBoxChildDiff, box *modelv1.ModelBox, rendered *unstructured.Unstructured, s apply.Step) error {
	switch s.Operation {
	case apply.Create:
		diff.Action = modelv1.DiffActionCreate
		if modelboxrender.FinishedJob(box, rendered) != nil {
			diff.Action, diff.Message = modelv1.DiffActionNone, "it has finished and was deleted: it does not run again"
		}
	case apply.Wait:
		diff.Action, diff.Message = modelv1.DiffActionReplace, "it is being deleted"
	case apply.Replace:
		diff.Action, diff.Message = modelv1.DiffActionReplace, s.Obstacle
	case apply.Refuse:
		diff.Action, diff.Message = modelv1.DiffActionRefuse, refusalOf(s)
	case apply.Adopt:
		diff.Action, diff.Message = modelv1.DiffActionUpdate, "it has no controller, and it is taken back: it is a copy of the child of the box, as a restored backup leaves it"
		if box.Annotations[modelv1.AdoptAnnotation] == "true" {
			diff.Message = "it has no controller, and it is taken over: fields of its spec that the box does not set are removed"
		}
	}
	if s.IsUsed {
		diff.Message = "it has no controller: where it has what the box asks for, it is used as it is"
	}
	isOurs := s.Difference != nil || s.Operation == apply.Adopt || s.Obstacle != "" && !s.IsOwnedByPredecessor
	if !isOurs {
		return nil
	}
	var err error
	if diff.Fields, err = d.differingFields(rendered, s); err != nil {
		return err
	}
	if diff.Action == modelv1.DiffActionNone && hasChange(diff.Fields) {
		diff.Action = modelv1.DiffActionUpdate
	}
	return nil
}

// refusalOf says why the live child of a step is left alone.
func refusalOf(s apply.Step) string {
	var notOwned *apply.NotOwnedError
	if !errors.As(s.Refusal, &notOwned) {
		return s.Obstacle
	}
	if controller := metav1.GetControllerOfNoCopy(s.Live); controller != nil {
		return fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	return "it has no controller: " + notOwned.Remedy
}

// hasChange returns whether a field is not left as it is.
func hasChange(fields []modelv1.ModelBoxFieldDiff) bool {
	for i := range fields {
		if !fields[i].Ignored {
			return true
		}
	}
	return false
}
