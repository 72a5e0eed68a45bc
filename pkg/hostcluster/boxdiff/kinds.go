// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxdiff

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// kinds are those of the children of boxes.
var kinds = []schema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	corev1.SchemeGroupVersion.WithKind("Service"),
	corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	networkingv1.SchemeGroupVersion.WithKind("Ingress"),
	gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"),
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
}

// resources are what the API calls the kinds.
var resources = map[schema.GroupVersionKind]schema.GroupVersionResource{
	kinds[0]: appsv1.SchemeGroupVersion.WithResource("deployments"),
	kinds[1]: appsv1.SchemeGroupVersion.WithResource("statefulsets"),
	kinds[2]: appsv1.SchemeGroupVersion.WithResource("daemonsets"),
	kinds[3]: corev1.SchemeGroupVersion.WithResource("services"),
	kinds[4]: corev1.SchemeGroupVersion.WithResource("configmaps"),
	kinds[5]: corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"),
	kinds[6]: networkingv1.SchemeGroupVersion.WithResource("ingresses"),
	kinds[7]: gatewayv1.SchemeGroupVersion.WithResource("httproutes"),
	kinds[8]: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"),
	kinds[9]: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"),
}

// childScheme has the kinds of children.
var childScheme = runtime.NewScheme()

func init() {
	utilruntime.Must(kubescheme.AddToScheme(childScheme))
	utilruntime.Must(gatewayv1.Install(childScheme))
}

// typedObject returns an object in its Go type, without fields that this release does not know.
func typedObject(object *unstructured.Unstructured) (fields.Object, error) {
	typed, err := childScheme.New(object.GroupVersionKind())
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return typed.(fields.Object), nil
}
