// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// NewUnstructuredKind returns a kind of children of which there is no Go type.
func NewUnstructuredKind(kind apply.Kind, informer cache.SharedIndexInformer, client dynamic.Interface) *Kind {
	return NewKind(kind, informer, func(namespace string) Client[*unstructured.Unstructured] {
		return unstructuredClient{client.Resource(kind.GroupVersionKind.GroupVersion().WithResource(kind.Resource.Resource)).Namespace(namespace)}
	})
}

// unstructuredClient is a dynamic client of one namespace as a Client.
type unstructuredClient struct {
	dynamic.ResourceInterface
}

func (c unstructuredClient) Get(ctx context.Context, name string, options metav1.GetOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Get(ctx, name, options)
}

func (c unstructuredClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return c.ResourceInterface.Delete(ctx, name, options)
}

func (c unstructuredClient) Create(ctx context.Context, object *unstructured.Unstructured, options metav1.CreateOptions) (*unstructured.Unstructured, error) {
	return c.ResourceInterface.Create(ctx, object, options)
}
