// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// byDeployment indexes autoscalers by the Deployment that they scale.
const byDeployment = "deployment"

// scaledDeployment returns the Deployment that an autoscaler scales. A box has its Deployment's name.
func scaledDeployment(object metav1.Object) (types.NamespacedName, bool) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return types.NamespacedName{}, false
	}
	target := autoscaler.Spec.ScaleTargetRef
	group, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil || group.Group != appsv1.GroupName || target.Kind != "Deployment" {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: autoscaler.Namespace, Name: target.Name}, true
}

// scaling leaves the number of pods to an autoscaler of the Deployment, and leaves it as that left it until the box
// asks for another number: one that is replaced by an autoscaler of the box must not cost pods in between. A box that
// is stopped is not autoscaled, nor is one that is started again, until it has its pods.
func (c *Controller) scaling(box *modelv1.ModelBox, deployment *appsv1.Deployment) (modelboxrender.Scaling, error) {
	if deployment == nil || *box.Spec.Replicas == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	leftAt, isLeft := deployment.Annotations[modelv1.AutoscaledAnnotation]
	if isLeft && leftAt == strconv.Itoa(int(*box.Spec.Replicas)) {
		return modelboxrender.ScaledByAutoscaler(replicas), nil
	}
	if !isLeft && replicas == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	autoscalers, err := c.autoscalers.ByIndex(byDeployment, keyOf(deployment).String())
	if err != nil {
		return modelboxrender.Scaling{}, fmt.Errorf("looking up the autoscalers of the Deployment: %w", err)
	}
	if len(autoscalers) == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	return modelboxrender.ScaledByAutoscaler(replicas), nil
}

// handOverReplicas returns the number of pods of the live Deployment when the rendered one gives it up. Nobody's, it would
// become 1, which is the API's default.
func handOverReplicas(rendered *unstructured.Unstructured, live children.Object) (*unstructured.Unstructured, error) {
	deployment := live.(*appsv1.Deployment)
	if !isAutoscaled(rendered) || isAutoscaled(deployment) {
		return nil, nil
	}
	replicas := &unstructured.Unstructured{}
	replicas.SetGroupVersionKind(rendered.GroupVersionKind())
	replicas.SetNamespace(deployment.Namespace)
	replicas.SetName(deployment.Name)
	if err := unstructured.SetNestedField(replicas.Object, int64(ptr.Deref(deployment.Spec.Replicas, 1)), "spec", "replicas"); err != nil {
		return nil, fmt.Errorf("setting the replicas to hand over: %w", err)
	}
	return replicas, nil
}

func isAutoscaled(deployment metav1.Object) bool {
	_, is := deployment.GetAnnotations()[modelv1.AutoscaledAnnotation]
	return is
}
