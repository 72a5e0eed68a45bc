// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"encoding/json"
	"errors"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

var recordKind = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")

// newRecordKind returns the records of stacks as a kind of children.
func newRecordKind(p *ControllerParameters) *children.Kind {
	kind := children.NewKind(apply.Kind{GroupVersionKind: recordKind, Resource: appsv1.Resource("controllerrevisions")}, p.Records.Informer(),
		func(namespace string) children.Client[*appsv1.ControllerRevision] {
			return p.KubeClient.AppsV1().ControllerRevisions(namespace)
		})
	kind.RecordsOwner = true
	kind.Immutable = immutableRecord
	kind.InUse = isOnlyRecord
	return kind
}

// immutableRecord is about the data of a ControllerRevision, which it keeps for life.
func immutableRecord(rendered *unstructured.Unstructured, live children.Object) string {
	var data any
	err := json.Unmarshal(live.(*appsv1.ControllerRevision).Data.Raw, &data)
	if err == nil && apiequality.Semantic.DeepEqual(rendered.Object["data"], data) {
		return ""
	}
	return "it records something else"
}

// isOnlyRecord returns whether there is no later record in place of one that is not up to date.
func isOnlyRecord(_ types.NamespacedName, _ children.Object, result *children.Result) (bool, error) {
	return !slices.ContainsFunc(result.Rendered, func(rendered *unstructured.Unstructured) bool {
		return rendered.GroupVersionKind() == recordKind && result.Child(recordKind, rendered.GetName()) != nil
	}), nil
}

// keptRecord is the record of a stack that had this generation and metadata.
type keptRecord struct {
	of       metav1.ObjectMeta
	rendered []*unstructured.Unstructured
}

// recordOf returns the record of the stack, none of a stack that is too large for one. It is kept as long as it is in use:
// most of what happens to a stack does not change what is recorded of it.
func (c *Controller) recordOf(stack *modelv1.ModelStack) ([]*unstructured.Unstructured, error) {
	meta := render.RecordedMeta(stack)
	if kept, ok := c.records.Get(stack.UID); ok && apiequality.Semantic.DeepEqual(kept.(*keptRecord).of, meta) {
		return kept.(*keptRecord).rendered, nil
	}
	made := &keptRecord{of: meta}
	rendered, err := modelstackrender.Record(stack)
	switch {
	case err == nil:
		made.rendered = []*unstructured.Unstructured{rendered}
	case !errors.Is(err, render.ErrRecordTooLarge):
		return nil, err
	}
	c.records.Add(stack.UID, made)
	return made.rendered, nil
}

// ownedComponents returns the children of the components of the stack, and not its record.
func (c *Controller) ownedComponents(stack *modelv1.ModelStack) ([]children.Object, error) {
	owned, err := c.children.Owned(stack)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(owned, func(child children.Object) bool {
		return child.GetObjectKind().GroupVersionKind() == recordKind
	}), nil
}
