// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// child is an object that a box asked for.
type child interface {
	metav1.Object
	runtime.Object
}

// childKind is what has to be known of a kind of child, so that all kinds can be treated alike. The children
// that it returns carry their kind.
type childKind struct {
	kind     schema.GroupVersionKind
	resource schema.GroupResource
	informer cache.SharedIndexInformer

	// obstacle returns what keeps the live child from becoming the rendered one, because the API does not let it
	// be changed; empty where nothing does.
	obstacle func(rendered *unstructured.Unstructured, live child) string
	// kept are the fields below spec that a child keeps when it is adopted, although the render leaves them out: what
	// the API allocates, and what others may have there.
	kept *fieldpath.Set

	get    func(ctx context.Context, namespace, name string) (child, error)
	watch  func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error)
	patch  func(ctx context.Context, namespace, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) (child, error)
	delete func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
}

func deploymentKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *childKind {
	kind := newChildKind(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", informer,
		func(namespace string) typedClient[*appsv1.Deployment] { return cluster.AppsV1().Deployments(namespace) })
	kind.obstacle = changesSelector
	kind.kept = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("spec", "template", "metadata"),
	)
	return kind
}

func serviceKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *childKind {
	kind := newChildKind(corev1.SchemeGroupVersion.WithKind("Service"), "services", informer,
		func(namespace string) typedClient[*corev1.Service] { return cluster.CoreV1().Services(namespace) })
	kind.obstacle = changesHeadless
	kind.kept = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "clusterIP"),
		fieldpath.MakePathOrDie("spec", "clusterIPs"),
		fieldpath.MakePathOrDie("spec", "healthCheckNodePort"),
		fieldpath.MakePathOrDie("spec", "ipFamilies"),
		fieldpath.MakePathOrDie("spec", "ipFamilyPolicy"),
	)
	return kind
}

// changesSelector is about the selector of a Deployment, which it keeps for life.
func changesSelector(rendered *unstructured.Unstructured, live child) string {
	wanted, _, _ := unstructured.NestedStringMap(rendered.Object, "spec", "selector", "matchLabels")
	selector := live.(*appsv1.Deployment).Spec.Selector
	if apiequality.Semantic.DeepEqual(selector, &metav1.LabelSelector{MatchLabels: wanted}) {
		return ""
	}
	return fmt.Sprintf("its selector is %q and cannot become %q", metav1.FormatLabelSelector(selector), labels.Set(wanted))
}

// changesHeadless is about Services of which one has an address and the other none: a Service keeps its clusterIP
// for life.
func changesHeadless(rendered *unstructured.Unstructured, live child) string {
	clusterIP, _, _ := unstructured.NestedString(rendered.Object, "spec", "clusterIP")
	wanted, has := clusterIP != corev1.ClusterIPNone, live.(*corev1.Service).Spec.ClusterIP != corev1.ClusterIPNone
	switch {
	case has && !wanted:
		return "it has a cluster IP and cannot become headless"
	case wanted && !has:
		return "it is headless and cannot get a cluster IP"
	default:
		return ""
	}
}

// typedClient is the part of a generated client that writing children needs.
type typedClient[T child] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

func newChildKind[T child](kind schema.GroupVersionKind, resource string, informer cache.SharedIndexInformer, client func(namespace string) typedClient[T]) *childKind {
	return &childKind{
		kind:     kind,
		resource: schema.GroupResource{Group: kind.Group, Resource: resource},
		informer: informer,
		get: func(ctx context.Context, namespace, name string) (child, error) {
			object, err := timeout.Request(ctx, func(ctx context.Context) (T, error) {
				return client(namespace).Get(ctx, name, metav1.GetOptions{})
			})
			if err != nil {
				return nil, err
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			return object, nil
		},
		watch: func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return client(namespace).Watch(ctx, options)
		},
		patch: func(ctx context.Context, namespace, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) (child, error) {
			object, err := timeout.Request(ctx, func(ctx context.Context) (T, error) {
				return client(namespace).Patch(ctx, name, patchType, data, options)
			})
			if err != nil {
				return nil, err
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			return object, nil
		},
		delete: func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
			_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, client(namespace).Delete(ctx, name, options)
			})
			return err
		},
	}
}

// cachedDeployment returns the Deployment of the box's name as the cache has it, nil where it has none.
func (c *Controller) cachedDeployment(box types.NamespacedName) (*appsv1.Deployment, error) {
	live, err := c.kinds[0].cached(box.Namespace, box.Name)
	if err != nil || live == nil {
		return nil, err
	}
	return live.(*appsv1.Deployment), nil
}

// cached returns the child of that name as the cache has it, nil where it has none.
func (k *childKind) cached(namespace, name string) (child, error) {
	obj, exists, err := k.informer.GetIndexer().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return nil, err
	}
	return obj.(child), nil
}

// ownedBy returns the cached children that the box controls, whatever their names.
func (k *childKind) ownedBy(box *modelv1.ModelBox) ([]child, error) {
	objects, err := k.informer.GetIndexer().ByIndex(byOwner, ownerOf(box).String())
	if err != nil {
		return nil, fmt.Errorf("looking up the %s of the box: %w", k.resource.Resource, err)
	}
	children := make([]child, 0, len(objects))
	for _, object := range objects {
		children = append(children, object.(child))
	}
	return children, nil
}

// hasLostOwner returns whether somebody changed whose the live child is: it was made for this very box, as its labels,
// its field manager and its record say, which no other box of the name has, and nobody else controls it.
func hasLostOwner(box *modelv1.ModelBox, rendered *unstructured.Unstructured, live child) bool {
	controller := metav1.GetControllerOfNoCopy(live)
	isControlled := controller != nil && controller.UID != box.UID && !isPredecessors(live, box)
	if isControlled || fingerprint(live) == "" {
		return false
	}
	for name, value := range rendered.GetLabels() {
		if live.GetLabels()[name] != value {
			return false
		}
	}
	return render.Hash(live) == render.Hash(rendered)
}
