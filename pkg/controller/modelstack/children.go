// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// The kinds of a stack's children.
var (
	boxKind           = modelboxrender.Kind
	serviceKind       = corev1.SchemeGroupVersion.WithKind("Service")
	endpointSliceKind = discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
)

func newKinds(p *ControllerParameters) []*children.Kind {
	boxes := children.NewKind(apply.Kind{GroupVersionKind: boxKind, Resource: modelv1.Resource("modelboxes")}, p.Boxes.Informer(),
		func(namespace string) children.Client[*modelv1.ModelBox] {
			return p.ModelClient.ModelV1().ModelBoxes(namespace)
		})
	boxes.PreservedFields = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
	boxes.HandOver = handOverReplicas
	// The boxes that depend on a box are deleted before it, and so are their pods.
	boxes.Propagation = metav1.DeletePropagationForeground

	services := children.NewKind(apply.Kind{GroupVersionKind: serviceKind, Resource: corev1.Resource("services")}, p.Services.Informer(),
		func(namespace string) children.Client[*corev1.Service] {
			return p.KubeClient.CoreV1().Services(namespace)
		})
	services.PreservedFields = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "clusterIP"),
		fieldpath.MakePathOrDie("spec", "clusterIPs"),
		fieldpath.MakePathOrDie("spec", "ipFamilies"),
		fieldpath.MakePathOrDie("spec", "ipFamilyPolicy"),
	)

	endpointSlices := children.NewKind(apply.Kind{GroupVersionKind: endpointSliceKind, Resource: discoveryv1.Resource("endpointslices")}, p.EndpointSlices.Informer(),
		func(namespace string) children.Client[*discoveryv1.EndpointSlice] {
			return p.KubeClient.DiscoveryV1().EndpointSlices(namespace)
		})
	endpointSlices.Immutable = immutableAddressType
	// The record comes first: it is there before what it would bring back the stack of.
	return []*children.Kind{newRecordKind(p), boxes, services, endpointSlices}
}

// immutableAddressType is about the addressType of an EndpointSlice, which it keeps for life.
func immutableAddressType(rendered *unstructured.Unstructured, live children.Object) string {
	wanted, _, _ := unstructured.NestedString(rendered.Object, "addressType")
	if is := string(live.(*discoveryv1.EndpointSlice).AddressType); is != wanted {
		return fmt.Sprintf("its addressType is %s and cannot become %s", is, wanted)
	}
	return ""
}

// newEngine returns what keeps the children of stacks.
func (c *Controller) newEngine() *children.Engine[*modelv1.ModelStack] {
	return children.NewEngine(children.Config[*modelv1.ModelStack]{
		Owners: apply.Owners[*modelv1.ModelStack]{
			OwnerKind: modelstackrender.Kind,
			Noun:      noun,
		},
		GetOwner: func(ctx context.Context, namespace, name string) (*modelv1.ModelStack, error) {
			return c.modelClient.ModelV1().ModelStacks(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		IsPaused:      func(stack *modelv1.ModelStack) bool { return stack.Spec.Paused },
		Render:        c.render,
		Kinds:         c.kinds,
		TypeConverter: fields.NewTypeConverter(),
		Consistency:   c.Consistency,
		Enqueue:       c.Queue.Add,
		Recorder:      c.Recorder,
		Metrics:       c.Metrics,
		Clock:         c.Clock,
	})
}

// render returns the children that the stack asks for while these are there.
func (c *Controller) render(stack *modelv1.ModelStack, live children.Live) ([]*unstructured.Unstructured, error) {
	g, err := c.graphOf(stack)
	if err != nil {
		return nil, err
	}
	record, err := c.recordOf(stack)
	if err != nil {
		return nil, err
	}
	all := make([]*unstructured.Unstructured, 0, len(record)+len(g.components))
	all = append(all, record...)
	for _, each := range g.components {
		rendered, err := c.renderedFor(each, live)
		if err != nil {
			return nil, err
		}
		all = append(all, rendered...)
	}
	return all, nil
}
