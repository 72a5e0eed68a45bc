// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Live has the live objects that the children of a box depend on besides the box. The zero value means that the cluster has none of
// them.
type Live struct {
	// Workload is the object of WorkloadKind that has the name of the box, with whatever owner: a Deployment, a StatefulSet or a
	// DaemonSet. It is nil if there is none.
	Workload metav1.Object
	// IsScaled is true if the workload has a HorizontalPodAutoscaler, of the box or of another owner.
	IsScaled bool
	// StableRecord is a record that may be the record of StableBox if the workload does not have it. It may be empty.
	StableRecord string
	// BeginsResize is BeginsResize for the workload as it was before the change.
	BeginsResize bool
	// Claims are the existing PersistentVolumeClaims of ClaimNames, by name.
	Claims map[string]*corev1.PersistentVolumeClaim
}

// ClaimNames returns the names of the PersistentVolumeClaims among the children of the box.
func ClaimNames(box *modelv1.ModelBox) []string {
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		return nil
	}
	names := make([]string, len(box.Spec.Storage))
	for i := range box.Spec.Storage {
		names[i] = helper.ClaimName(box.Name, box.Spec.Storage[i].Name)
	}
	return names
}

// RenderForLive returns the Children of the box for the live objects in the cluster. It keeps the number of pods of an autoscaler,
// the selector of an adopted Deployment, and the size of an expanded claim. If the box is rolled back, its pods are the pods of its
// stable revision. While its pods are resized in place, its workload keeps its resources.
func RenderForLive(box *modelv1.ModelBox, live Live) ([]*unstructured.Unstructured, error) {
	plan, err := planRollout(box, live)
	if err != nil {
		return nil, err
	}
	return plan.renderForLive(box, live)
}

// RenderResized is RenderForLive with the resources that the box asks for, also before its pods have them.
func RenderResized(box *modelv1.ModelBox, live Live) ([]*unstructured.Unstructured, error) {
	plan, err := planRollout(box, live)
	if err != nil {
		return nil, err
	}
	plan.resize = nil
	return plan.renderForLive(box, live)
}

// renderForLive returns the children of the box by the plan, for the live objects that the plan was made for.
func (p rolloutPlan) renderForLive(box *modelv1.ModelBox, live Live) ([]*unstructured.Unstructured, error) {
	children, err := childrenOf(box, ScalingBeside(box, live), p)
	if err != nil {
		return nil, err
	}
	if deployment, ok := live.Workload.(*appsv1.Deployment); ok {
		if err := keepSelector(box, children[0], deployment); err != nil {
			return nil, err
		}
	}
	return children, keepGrownSizes(children, live.Claims)
}

// ScalingBeside returns whether the box or an autoscaler of its workload determines the number of pods.
func ScalingBeside(box *modelv1.ModelBox, live Live) Scaling {
	var replicas int32
	switch workload := live.Workload.(type) {
	case *appsv1.Deployment:
		replicas = ptr.Deref(workload.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		replicas = ptr.Deref(workload.Spec.Replicas, 1)
	default: // a DaemonSet has a pod on every node
		return ScaledByBox
	}
	if !render.LeavesReplicas(live.Workload, replicas, ptr.Deref(box.Spec.Replicas, 0), live.IsScaled) {
		return ScaledByBox
	}
	return ScaledByAutoscaler(replicas)
}

// keepGrownSizes keeps the size of claims that are larger than the size in the box, because a claim cannot shrink.
func keepGrownSizes(children []*unstructured.Unstructured, live map[string]*corev1.PersistentVolumeClaim) error {
	for _, child := range children {
		claim := live[child.GetName()]
		if claim == nil || child.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim") {
			continue
		}
		wanted, err := RenderedClaim(child)
		if err != nil {
			return err
		}
		size := claim.Spec.Resources.Requests.Storage()
		if size.Cmp(*wanted.Spec.Resources.Requests.Storage()) <= 0 {
			continue
		}
		if err := unstructured.SetNestedField(child.Object, size.String(), "spec", "resources", "requests", string(corev1.ResourceStorage)); err != nil {
			return fmt.Errorf("keeping the size of PersistentVolumeClaim %s: %w", child.GetName(), err)
		}
	}
	return nil
}

// RenderedClaim converts a rendered PersistentVolumeClaim to its type.
func RenderedClaim(rendered *unstructured.Unstructured) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, claim); err != nil {
		return nil, fmt.Errorf("reading PersistentVolumeClaim %s: %w", rendered.GetName(), err)
	}
	return claim, nil
}
