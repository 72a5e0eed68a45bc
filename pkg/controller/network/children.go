// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/validation/spec"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// NewDefinitionInformer returns an informer of the NetworkAttachmentDefinitions that controllers of this server have made.
func NewDefinitionInformer(client dynamic.Interface) (*informers.Optional, error) {
	definitions := client.Resource(networkattachment.Resource)
	selected := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector = render.ManagedByLabel + "=" + render.ManagedBy
		return options
	}
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return definitions.List(ctx, selected(options))
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return definitions.Watch(ctx, selected(options))
		},
	}
	example := &unstructured.Unstructured{}
	example.SetGroupVersionKind(networkattachment.Kind)
	return informers.NewOptional(networkattachment.Resource.GroupResource(), listWatch, example, trimDefinition)
}

// trimDefinition leaves of managed fields only what tells whether a definition is as it was written.
func trimDefinition(obj any) (any, error) {
	if definition, ok := obj.(*unstructured.Unstructured); ok {
		apply.Trim(definition)
	}
	return obj, nil
}

// definitionKind returns NetworkAttachmentDefinitions as a kind of children.
func definitionKind(client dynamic.Interface, informer *informers.Optional) *children.Kind {
	kind := children.NewUnstructuredKind(apply.Kind{GroupVersionKind: networkattachment.Kind, Resource: networkattachment.Resource.GroupResource()}, informer, client)
	kind.IsServed = informer.IsServed
	return kind
}

// newEngine returns what keeps the children of networks.
func (c *Controller) newEngine() (*children.Engine[*modelv1.Network], error) {
	typeConverter, err := newTypeConverter()
	if err != nil {
		return nil, err
	}
	return children.NewEngine(children.Config[*modelv1.Network]{
		Owners: apply.Owners[*modelv1.Network]{
			OwnerKind: networkrender.Kind,
			Noun:      noun,
		},
		GetOwner: func(ctx context.Context, namespace, name string) (*modelv1.Network, error) {
			return c.modelClient.ModelV1().Networks(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		IsPaused: func(*modelv1.Network) bool { return false },
		Render: func(network *modelv1.Network, _ children.Live) ([]*unstructured.Unstructured, error) {
			return networkrender.Children(network)
		},
		Kinds:         []*children.Kind{c.definitions},
		TypeConverter: typeConverter,
		Consistency:   c.Consistency,
		Enqueue:       c.Queue.Add,
		Recorder:      c.Recorder,
		Metrics:       c.Metrics,
		Clock:         c.Clock,
	}), nil
}

// newTypeConverter returns what knows the schema of NetworkAttachmentDefinitions, as the standard has it.
func newTypeConverter() (managedfields.TypeConverter, error) {
	schemas := map[string]*spec.Schema{}
	reference := func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		schemas[name] = &definition.Schema
	}
	kind := networkattachment.Kind
	schemas[kind.Kind] = &spec.Schema{
		VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{
			"x-kubernetes-group-version-kind": []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}},
		}},
		SchemaProps: spec.SchemaProps{
			Type: spec.StringOrArray{"object"},
			Properties: map[string]spec.Schema{
				"apiVersion": *spec.StringProperty(),
				"kind":       *spec.StringProperty(),
				"metadata":   *spec.RefSchema("#/definitions/" + metav1.ObjectMeta{}.OpenAPIModelName()),
				"spec": {SchemaProps: spec.SchemaProps{
					Type:       spec.StringOrArray{"object"},
					Properties: map[string]spec.Schema{"config": *spec.StringProperty()},
				}},
			},
		},
	}
	converter, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind.Kind, err)
	}
	return converter, nil
}
