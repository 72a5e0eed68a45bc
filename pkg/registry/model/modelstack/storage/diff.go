// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/rest"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// DiffREST is the diff subresource. It returns a List with the diff of each box with the spec from the stack, and after them the
// boxes that the stack no longer has. It does not compare external components.
type DiffREST struct {
	scheme *runtime.Scheme
	store  *genericregistry.Store
	boxes  *modelboxstorage.REST
	diff   *modelboxrest.DiffREST
	// managers apply to boxes as the controller does.
	managers *managedfields.FieldManager
}

var (
	_ rest.Getter          = &DiffREST{}
	_ rest.NamedCreater    = &DiffREST{}
	_ rest.StorageMetadata = &DiffREST{}
)

// New returns an empty ModelStack, which is what can be sent.
func (*DiffREST) New() runtime.Object { return &model.ModelStack{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*DiffREST) Destroy() {}

// ProducesMIMETypes returns no types in addition to the types of every resource.
func (*DiffREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject returns a List, whatever the verb.
func (*DiffREST) ProducesObject(string) any { return metav1.List{} }

// Get compares with the stored stack: what differs is drift, or not applied yet.
func (r *DiffREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return r.diffs(ctx, obj.(*model.ModelStack))
}

// Create compares with the stack that is sent, which is defaulted and validated as an update of the stored one, or as a new one
// where there is none of the name, and not stored.
func (r *DiffREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	stored, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	var sent *model.ModelStack
	switch {
	case apierrors.IsNotFound(err):
		sent, err = subresource.SentAsNew[*model.ModelStack](ctx, r.store, "ModelStack", name, obj, createValidation)
	case err == nil:
		sent, err = subresource.SentAsUpdate(ctx, r.store, "ModelStack", stored.(*model.ModelStack), obj, createValidation)
	}
	if err != nil {
		return nil, err
	}
	if stored, isStored := stored.(*model.ModelStack); isStored {
		for _, text := range modelstack.IsolationWarnings(sent, stored) {
			warning.AddWarning(ctx, "", text)
		}
	}
	return r.diffs(ctx, sent)
}

// diffs returns the diffs of all boxes of the stack, those that go by name after the others.
func (r *DiffREST) diffs(ctx context.Context, stack *model.ModelStack) (*metav1.List, error) {
	served, err := asServed(stack)
	if err != nil {
		return nil, err
	}
	owned, err := r.ownedBoxes(ctx, stack)
	if err != nil {
		return nil, err
	}
	var diffs []runtime.Object
	renderer := modelstackrender.NewRenderer(served)
	for i := range served.Spec.Components {
		component := &served.Spec.Components[i]
		if component.Box == nil {
			continue
		}
		diff, err := r.diffBox(ctx, renderer, stack, component, owned[component.BoxName])
		if err != nil {
			return nil, subresource.WithContext("comparing the box of component "+component.Name, err)
		}
		diffs = append(diffs, diff)
		delete(owned, component.BoxName)
	}
	for _, box := range slices.SortedFunc(maps.Values(owned), func(a, b *model.ModelBox) int { return strings.Compare(a.Name, b.Name) }) {
		if box.DeletionTimestamp == nil {
			diffs = append(diffs, ofBoxItself(box, modelv1.DiffActionDelete, "deletes the box and its children", ""))
		}
	}
	return r.encode(diffs)
}

// ownedBoxes returns the boxes that the stack controls, by name.
func (r *DiffREST) ownedBoxes(ctx context.Context, stack *model.ModelStack) (map[string]*model.ModelBox, error) {
	list, err := r.boxes.List(ctx, &metainternalversion.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{modelv1.StackLabel: stack.Name}),
	})
	if err != nil {
		return nil, err
	}
	owned := map[string]*model.ModelBox{}
	for i := range list.(*model.ModelBoxList).Items {
		if box := &list.(*model.ModelBoxList).Items[i]; isOfStack(box, stack) {
			owned[box.Name] = box
		}
	}
	return owned, nil
}

// diffBox returns what becomes of the box of a component, which is nil where the stack has none.
func (r *DiffREST) diffBox(ctx context.Context, renderer *modelstackrender.Renderer, stack *model.ModelStack, component *modelv1.ModelStackComponent, box *model.ModelBox) (runtime.Object, error) {
	rendered, err := renderer.Children(component, box != nil && isAutoscaled(box, component))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if box == nil {
		foreign, err := r.boxes.Get(ctx, component.BoxName, &metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			// A box has owners that are there, and what is not stored has no UID.
			rendered[0].SetOwnerReferences(nil)
			box = &model.ModelBox{}
		case err != nil:
			return nil, err
		case metav1.GetControllerOf(foreign.(*model.ModelBox)) != nil || stack.Annotations[modelv1.AdoptAnnotation] != "true":
			return ofBoxItself(foreign.(*model.ModelBox), modelv1.DiffActionRefuse, "", "the stack does not control it"), nil
		default:
			box = foreign.(*model.ModelBox)
		}
	}
	applied, err := r.managers.Apply(box.DeepCopy(), rendered[0], render.FieldManager, true)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("applying to %s: %w", component.BoxName, err))
	}
	return r.diff.Create(ctx, component.BoxName, applied, nil, &metav1.CreateOptions{})
}

// ofBoxItself returns the diff of a box of which nothing else is to be said.
func ofBoxItself(box *model.ModelBox, action modelv1.ModelBoxDiffAction, effect, message string) *modelv1.ModelBoxDiff {
	return &modelv1.ModelBoxDiff{
		ObjectMeta: subresource.AnswerMeta(box),
		Paused:     box.Spec.Paused,
		Children: []modelv1.ModelBoxChildDiff{{
			APIVersion: modelboxrender.Kind.GroupVersion().String(), Kind: modelboxrender.Kind.Kind, Name: box.Name,
			Action: action, Effect: effect, Message: message,
		}},
	}
}

// encode returns the diffs in the form of the API.
func (r *DiffREST) encode(diffs []runtime.Object) (*metav1.List, error) {
	items := make([]*unstructured.Unstructured, 0, len(diffs))
	for _, diff := range diffs {
		served, err := r.scheme.ConvertToVersion(diff, modelv1.SchemeGroupVersion)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("converting a diff: %w", err))
		}
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(served)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("encoding a diff: %w", err))
		}
		items = append(items, &unstructured.Unstructured{Object: object})
	}
	return subresource.NewList(items)
}
