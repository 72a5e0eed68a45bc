// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// newIngressKind returns the Ingresses of Services as a kind of children.
func newIngressKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(apply.Kind{GroupVersionKind: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Resource: networkingv1.Resource("ingresses")}, informer,
		func(namespace string) children.Client[*networkingv1.Ingress] {
			return cluster.NetworkingV1().Ingresses(namespace)
		})
	// If the Service does not name a class, the cluster sets its default class.
	kind.PreservedFields = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "ingressClassName"))
	return kind
}

// newEngine returns what keeps the Ingresses of Services.
func (c *Controller) newEngine() *children.Engine[*corev1.Service] {
	return children.NewEngine(children.Config[*corev1.Service]{
		Owners: apply.Owners[*corev1.Service]{
			OwnerKind: serviceingressrender.ServiceKind,
			Noun:      noun,
			// The author of a Service may lack the permission to update Ingresses.
			ConsentIsOnChild: true,
		},
		GetOwner:      c.getService,
		IsPaused:      func(*corev1.Service) bool { return false },
		Render:        c.render,
		Kinds:         []*children.Kind{c.ingresses},
		TypeConverter: fields.NewTypeConverter(),
		Consistency:   c.Consistency,
		Enqueue:       c.Queue.Add,
		Recorder:      c.Recorder,
		Metrics:       c.Metrics,
		Clock:         c.Clock,
	})
}

func (c *Controller) getService(ctx context.Context, namespace, name string) (*corev1.Service, error) {
	return c.kubeClient.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
}

// render returns the Ingress of the Service, nothing where it is to have none.
func (c *Controller) render(service *corev1.Service, _ children.Live) ([]*unstructured.Unstructured, error) {
	wants, err := c.wantsIngress(service)
	if err != nil || !wants {
		return nil, err
	}
	ingress, err := serviceingressrender.Ingress(service, c.defaults)
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{ingress}, nil
}
