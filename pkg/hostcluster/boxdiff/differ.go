// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxdiff finds out how the live children of a box differ from those that it asks for, for a request about that box. It
// compares them as the controller does, and writes nothing.
package boxdiff

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Differ compares children of boxes with the permissions of the server.
type Differ struct {
	client  dynamic.Interface
	compare *fields.Comparer
}

// New returns a Differ of the cluster that client reaches.
func New(client dynamic.Interface) *Differ {
	return &Differ{client, fields.NewComparer(fields.NewTypeConverter())}
}

// Diff compares the live children with the rendered ones of the box, in their order, and after them come those that the box asks
// for no more. It has all fields that differ, and no effects. Of kinds that mayGet is false for nothing is read. It costs a
// request for each child and one for each kind, and returns the errors of the cluster, wrapped in what was being read.
func (d *Differ) Diff(ctx context.Context, box *modelv1.ModelBox, rendered []*unstructured.Unstructured, mayGet func(schema.GroupVersionResource) bool) ([]modelv1.ModelBoxChildDiff, error) {
	var diffs []modelv1.ModelBoxChildDiff
	isRendered := map[childName]bool{}
	for _, child := range rendered {
		isRendered[nameOf(child)] = true
		diff := newDiff(child)
		resource, isKnown := resources[child.GroupVersionKind()]
		if !isKnown {
			return nil, fmt.Errorf("boxes have no children of the kind %s", child.GetKind())
		}
		if !mayGet(resource) {
			diff.Action, diff.Message = modelv1.DiffActionUnknown, fmt.Sprintf("not shown: you may not get %s", resource.GroupResource())
		} else if err := d.diffChild(ctx, &diff, box, child, resource); err != nil {
			return nil, err
		}
		diffs = append(diffs, diff)
	}
	for _, kind := range kinds {
		if !mayGet(resources[kind]) {
			continue
		}
		controlled, err := d.controlledBy(ctx, box, resources[kind])
		if err != nil {
			return nil, err
		}
		for i := range controlled {
			if live := &controlled[i]; !isRendered[nameOf(live)] && live.GetDeletionTimestamp() == nil {
				diff := newDiff(live)
				diff.Action = modelv1.DiffActionDelete
				diffs = append(diffs, diff)
			}
		}
	}
	return diffs, nil
}

// childName tells the children of a box from one another.
type childName struct {
	kind schema.GroupVersionKind
	name string
}

func nameOf(child *unstructured.Unstructured) childName {
	return childName{child.GroupVersionKind(), child.GetName()}
}

func newDiff(child *unstructured.Unstructured) modelv1.ModelBoxChildDiff {
	return modelv1.ModelBoxChildDiff{APIVersion: child.GetAPIVersion(), Kind: child.GetKind(), Name: child.GetName(), Action: modelv1.DiffActionNone}
}

// controlledBy returns the objects that the box controls.
func (d *Differ) controlledBy(ctx context.Context, box *modelv1.ModelBox, resource schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	list, err := d.client.Resource(resource).Namespace(box.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box.Name, render.ManagedByLabel: render.ManagedBy}).String(),
	})
	switch {
	case apierrors.IsNotFound(err): // the cluster does not serve the kind
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing the %s: %w", resource.Resource, err)
	}
	var controlled []unstructured.Unstructured
	for i := range list.Items {
		if isControlledBy(&list.Items[i], box) {
			controlled = append(controlled, list.Items[i])
		}
	}
	return controlled, nil
}

// diffChild compares one child.
func (d *Differ) diffChild(ctx context.Context, diff *modelv1.ModelBoxChildDiff, box *modelv1.ModelBox, rendered *unstructured.Unstructured, resource schema.GroupVersionResource) error {
	object, err := d.client.Resource(resource).Namespace(box.Namespace).Get(ctx, rendered.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err):
		diff.Action, diff.Message = modelv1.DiffActionRefuse, fmt.Sprintf("the cluster does not serve %s", resource.GroupResource())
		return nil
	case apierrors.IsNotFound(err):
		diff.Action = modelv1.DiffActionCreate
		return nil
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", rendered.GetKind(), rendered.GetName(), err)
	}
	live, err := typedObject(object)
	if err != nil {
		return err
	}
	_, isClaim := live.(*corev1.PersistentVolumeClaim)
	switch diff.Action, diff.Message = d.ownership(box, rendered, live); diff.Action {
	case modelv1.DiffActionNone:
		if diff.Message != "" { // a claim that is used
			return nil
		}
	case modelv1.DiffActionUpdate: // one that is adopted or taken back
	default:
		return nil
	}
	if live.GetDeletionTimestamp() != nil {
		diff.Action, diff.Message = modelv1.DiffActionReplace, "it is being deleted"
		return nil
	}
	obstacle := modelboxrender.Immutable(rendered, live)
	if diff.Fields, err = d.differingFields(box, rendered, live); err != nil {
		return err
	}
	switch {
	case obstacle != "" && diff.Action == modelv1.DiffActionUpdate:
		diff.Action, diff.Message = modelv1.DiffActionRefuse, "it has no controller, and it cannot be taken over: "+obstacle
	case obstacle != "" && isClaim:
		diff.Action, diff.Message = modelv1.DiffActionRefuse, obstacle
	case obstacle != "":
		diff.Action, diff.Message = modelv1.DiffActionReplace, obstacle
	case hasChange(diff.Fields):
		diff.Action = modelv1.DiffActionUpdate
	}
	return nil
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

// ownership says what becomes of a live object because of whose it is: nothing for one of the box, without a message.
func (d *Differ) ownership(box *modelv1.ModelBox, rendered *unstructured.Unstructured, live fields.Object) (modelv1.ModelBoxDiffAction, string) {
	controller := metav1.GetControllerOfNoCopy(live)
	ofBox := render.ControllerOfKind(live, modelboxrender.Kind.GroupKind())
	_, isClaim := live.(*corev1.PersistentVolumeClaim)
	isWritten := fields.Fingerprint(live) != ""
	switch {
	case isControlledBy(live, box):
		return modelv1.DiffActionNone, ""
	case ofBox != nil && ofBox.Name == box.Name && box.UID != "":
		return modelv1.DiffActionReplace, "it belonged to a box of this name that has been deleted"
	case controller != nil:
		return modelv1.DiffActionRefuse, fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	case isWritten && (isClaim || render.Hash(live) == render.Hash(rendered)) && live.GetLabels()[modelv1.SelectorLabel] == box.Name:
		return modelv1.DiffActionNone, "" // a retained claim, or a child without the owner reference that a user has removed
	case box.Annotations[modelv1.AdoptAnnotation] == "true":
		return modelv1.DiffActionUpdate, "it has no controller, and it is taken over: fields of its spec that the box does not set are removed"
	case d.compare.IsCopyOf(rendered, live, func(record string) bool { return modelboxrender.IsRecordOf(box, record) }):
		return modelv1.DiffActionUpdate, "it has no controller, and it is taken back: it is a copy of the child of the box, as a restored backup leaves it"
	case isClaim:
		return modelv1.DiffActionNone, "it has no controller: where it has what the box asks for, it is used as it is"
	default:
		return modelv1.DiffActionRefuse, fmt.Sprintf("it has no controller: delete it, give the box another name, or annotate the box with %s=true to take it over", modelv1.AdoptAnnotation)
	}
}

func isControlledBy(object metav1.Object, box *modelv1.ModelBox) bool {
	return render.IsControlledBy(object, box, modelboxrender.Kind.GroupKind())
}
