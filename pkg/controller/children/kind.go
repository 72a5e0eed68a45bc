// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// Kind is a kind of children. The fields that NewKind does not set are optional.
type Kind struct {
	apply.Kind

	// Informer caches the children, as Trim leaves them, and may cache objects of others.
	Informer cache.SharedIndexInformer

	// IsServed returns whether the cluster serves the kind. Nil is a kind that every cluster does.
	IsServed func() bool
	// PreservedFields are the fields of its content that a child keeps when it is adopted, although the render leaves them out:
	// fields that the API allocates, and fields that other managers may set. Nil is none.
	PreservedFields *fieldpath.Set
	// Inherited are fields that a child takes over from the child that it replaces, if the render leaves them out. They keep their
	// values until another manager sets them. Nil is none.
	Inherited *fieldpath.Set
	// ReplacePropagation returns what becomes of the dependents of the live child that is deleted to be created again as rendered.
	// Nil is Propagation for all.
	ReplacePropagation func(rendered *unstructured.Unstructured, live Object) metav1.DeletionPropagation
	// Untrimmed returns a cached child with what the transform of its informer has taken out of it, as far as that is as
	// rendered, so that the two can be compared. It does not change the child. Nil is a kind of which the cache has all.
	Untrimmed func(live Object, rendered *unstructured.Unstructured) Object
	// InUse returns whether a child that the owner no longer asks for has to stay until a later reconcile, because it serves what
	// the owner asked for before. The result has the outcome for all other children. Nil is a kind of which no child has to stay.
	InUse func(owner types.NamespacedName, child Object, result *Result) (bool, error)
	// Prerequisites are kinds of children that one of this kind relies on: it is neither created nor changed as long as
	// one of those could not be. They come before this kind.
	Prerequisites []*Kind
	// Relies returns whether the live child relies on a live prerequisite as it is, so that the wait for the end of one that is
	// being deleted could have none. Nil is a kind of which none does.
	Relies func(live, prerequisite Object) bool
	// Propagation is what becomes of the dependents of a child that is deleted. Empty is metav1.DeletePropagationBackground.
	Propagation metav1.DeletionPropagation
	// Written is called when a child was updated, or the record of its owner was written into it. It may be nil.
	Written func(owner types.NamespacedName, before, after Object)

	get    func(ctx context.Context, namespace, name string) (Object, error)
	watch  func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error)
	create func(ctx context.Context, namespace string, rendered *unstructured.Unstructured, options metav1.CreateOptions) error
	patch  func(ctx context.Context, namespace, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) (Object, error)
	delete func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
}

// Client is the part of a generated client that writing children needs.
type Client[T Object] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// NewKind returns a kind of children that are read and written by clients of their namespaces.
func NewKind[T Object](kind apply.Kind, informer cache.SharedIndexInformer, client func(namespace string) Client[T]) *Kind {
	withKind := func(object T, err error) (Object, error) {
		if err != nil {
			return nil, err
		}
		object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
		return object, nil
	}
	return &Kind{
		Kind:     kind,
		Informer: informer,
		get: func(ctx context.Context, namespace, name string) (Object, error) {
			return withKind(timeout.Request(ctx, func(ctx context.Context) (T, error) {
				return client(namespace).Get(ctx, name, metav1.GetOptions{})
			}))
		},
		watch: func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return client(namespace).Watch(ctx, options)
		},
		create: func(ctx context.Context, namespace string, rendered *unstructured.Unstructured, options metav1.CreateOptions) error {
			object, err := fromUnstructured[T](rendered)
			if err != nil {
				return err
			}
			_, err = timeout.Request(ctx, func(ctx context.Context) (T, error) {
				return client(namespace).Create(ctx, object, options)
			})
			return err
		},
		patch: func(ctx context.Context, namespace, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) (Object, error) {
			return withKind(timeout.Request(ctx, func(ctx context.Context) (T, error) {
				return client(namespace).Patch(ctx, name, patchType, data, options)
			}))
		},
		delete: func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
			_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, client(namespace).Delete(ctx, name, options)
			})
			return err
		},
	}
}

// fromUnstructured returns a rendered child as an object of the client.
func fromUnstructured[T Object](rendered *unstructured.Unstructured) (T, error) {
	if object, isUnstructured := any(rendered).(T); isUnstructured {
		return object, nil
	}
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	return object, runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, object)
}

// isServed is IsServed of a kind that may have none.
func (k *Kind) isServed() bool { return k.IsServed == nil || k.IsServed() }

// preservedFields is PreservedFields of a kind that may have none.
func (k *Kind) preservedFields() *fieldpath.Set {
	if k.PreservedFields == nil {
		return fieldpath.NewSet()
	}
	return k.PreservedFields
}

// inherited is Inherited of a kind that may have none.
func (k *Kind) inherited() *fieldpath.Set {
	if k.Inherited == nil {
		return fieldpath.NewSet()
	}
	return k.Inherited
}

// untrimmed is Untrimmed of a kind that may have none.
func (k *Kind) untrimmed(live Object, rendered *unstructured.Unstructured) Object {
	if live == nil || k.Untrimmed == nil {
		return live
	}
	return k.Untrimmed(live, rendered)
}

// inUse is InUse of a kind that may have none.
func (k *Kind) inUse(owner types.NamespacedName, child Object, result *Result) (bool, error) {
	if k.InUse == nil {
		return false, nil
	}
	return k.InUse(owner, child, result)
}

// propagation is Propagation of a kind that may have none.
func (k *Kind) propagation() metav1.DeletionPropagation {
	return cmp.Or(k.Propagation, metav1.DeletePropagationBackground)
}

// cached returns the child of that name from the cache, nil if the cache has none.
func (k *Kind) cached(namespace, name string) (Object, error) {
	obj, exists, err := k.Informer.GetIndexer().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return nil, err
	}
	return obj.(Object), nil
}

// controlledBy returns the cached children that the owner controls, whatever their names.
func (k *Kind) controlledBy(index string, owner apply.OwnerID) ([]Object, error) {
	objects, err := k.Informer.GetIndexer().ByIndex(index, owner.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the %s of the owner: %w", k.Resource.Resource, err)
	}
	children := make([]Object, 0, len(objects))
	for _, object := range objects {
		children = append(children, object.(Object))
	}
	slices.SortFunc(children, func(a, b Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return children, nil
}
