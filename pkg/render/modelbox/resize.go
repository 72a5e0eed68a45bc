// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/podresources"
)

// Resize is a change of only the CPU and the memory of the containers of a box, which its pods get in place. Its workload has the new
// resources only when all pods have them, and when that no longer replaces the pods.
type Resize struct {
	// Phase is how far the resize has come. It is empty if the status does not have it yet.
	Phase modelv1.ResizePhase
	// Wanted is the pod template that the box asks for, and Live is the pod template of the workload.
	Wanted, Live *corev1.PodTemplateSpec
	// Obstacle is the reason if no pod can get the resources in place. It is empty if pods may.
	Obstacle string
}

// ResizeOf returns the resize in place that the box is in, or begins. It returns nil if there is none, so that a change of the resources
// replaces the pods. The box must be defaulted and valid.
func ResizeOf(box *modelv1.ModelBox, live Live) (*Resize, error) {
	template := podTemplateOf(live.Workload)
	if !box.Spec.ResizesInPlace() || box.Spec.Paused || template == nil || !metav1.IsControlledBy(live.Workload, box) {
		return nil, nil
	}
	last := box.Status.Resize
	if last == nil && !live.BeginsResize {
		return nil, nil
	}
	isSame, err := isOf(last, box)
	if err != nil || !live.BeginsResize && (!isSame || last.Phase == modelv1.ResizeRestarting) {
		return nil, err
	}
	resize := &Resize{Live: template}
	if resize.Wanted, err = PodTemplate(box); err != nil {
		return nil, err
	}
	if last != nil && last.Phase != modelv1.ResizeRestarting {
		resize.Phase = last.Phase
	}
	if resize.Phase == modelv1.ResizeCompleting && !isSame {
		resize.Phase = modelv1.ResizeHalted // The pods may be of the template of the last resize.
	}
	resize.Obstacle = podresources.Obstacle(&resize.Live.Spec, &resize.Wanted.Spec)
	if resize.Obstacle != "" && box.Spec.Resize.Mode == modelv1.ResizeInPlaceOrRestart {
		return nil, nil
	}
	return resize, nil
}

// MayBeginResize returns false if BeginsResize is false for this workload, which may be from a cache, and otherwise true.
func MayBeginResize(box *modelv1.ModelBox, workload metav1.Object) (bool, error) {
	template := podTemplateOf(workload)
	if !box.Spec.ResizesInPlace() || box.Spec.Paused || template == nil || !metav1.IsControlledBy(workload, box) {
		return false, nil
	}
	last := box.Status.Resize
	isInPlace := last != nil && last.Phase != modelv1.ResizeRestarting
	if !isInPlace && (!isSettled(workload) || !isRolloutSettled(box.Status.Rollout)) {
		return false, nil // A change in the middle of a rollout is part of it.
	}
	isSame, err := isOf(last, box)
	if err != nil || isSame && (isInPlace || box.Spec.Resize.Mode == modelv1.ResizeInPlaceOrRestart) {
		return false, err // The resize is under way, or was given up.
	}
	if isInPlace {
		return true, nil
	}
	wanted, err := PodTemplate(box)
	if err != nil || podresources.Equal(&template.Spec, &wanted.Spec) {
		return false, err
	}
	return box.Spec.Resize.Mode == modelv1.ResizeInPlaceOnly || podresources.Obstacle(&template.Spec, &wanted.Spec) == "", nil
}

// BeginsResize returns whether the box begins a resize in place while these objects are live: it differs from what its workload was last
// rendered from in nothing about its pods but resources that pods can get in place. It returns false if another client has changed the
// resources of the workload. The workload must not be from a cache, which does not keep the record of the box.
func BeginsResize(box *modelv1.ModelBox, live Live) (bool, error) {
	if mayBegin, err := MayBeginResize(box, live.Workload); err != nil || !mayBegin {
		return false, err
	}
	recorded, err := ReadRecord(live.Workload.GetAnnotations()[modelv1.RecordAnnotation])
	if err == nil && (recorded.UID != box.UID || isRolledBack(live.Workload, recorded)) {
		return false, nil
	}
	if err != nil || recorded.Spec.Paused { // The workload need not be rendered from the record of a paused box.
		return isRendered(box, live)
	}
	modelv1.SetObjectDefaults_ModelBox(recorded)
	if _, err := recordedPodsHash(recorded); err != nil {
		return false, nil //nolint:nilerr // Users can write records.
	}
	before, err := PodTemplate(recorded)
	if err != nil {
		return false, err
	}
	wanted, err := PodTemplate(box)
	switch {
	case err != nil || !podresources.EqualExceptResources(before, wanted):
		return false, err
	case podresources.Equal(&before.Spec, &wanted.Spec): // The workload has been written for the resize, or has been changed by another client.
		return isRendered(box, live)
	default:
		return true, nil
	}
}

// isOf returns whether the resize, which may be nil, is about the pods that the box asks for.
func isOf(resize *modelv1.ModelBoxResizeStatus, box *modelv1.ModelBox) (bool, error) {
	if resize == nil {
		return false, nil
	}
	hash, err := PodsHash(box)
	return hash == resize.PodsHash, err
}

// podTemplateOf returns the pod template of a live workload, nil if it is nil or no workload of a box.
func podTemplateOf(workload metav1.Object) *corev1.PodTemplateSpec {
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		return &workload.Spec.Template
	case *appsv1.StatefulSet:
		return &workload.Spec.Template
	case *appsv1.DaemonSet:
		return &workload.Spec.Template
	default:
		return nil
	}
}

// isSettled returns whether the workload has pods, and all of them have its template.
func isSettled(workload metav1.Object) bool {
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		replicas, status := ptr.Deref(workload.Spec.Replicas, 1), &workload.Status
		return replicas > 0 && !workload.Spec.Paused && status.UpdatedReplicas == replicas && status.Replicas == replicas
	case *appsv1.StatefulSet:
		replicas, status, rollingUpdate := ptr.Deref(workload.Spec.Replicas, 1), &workload.Status, workload.Spec.UpdateStrategy.RollingUpdate
		return replicas > 0 && status.UpdatedReplicas == replicas && status.Replicas == replicas && status.CurrentRevision == status.UpdateRevision &&
			(rollingUpdate == nil || ptr.Deref(rollingUpdate.Partition, 0) == 0)
	case *appsv1.DaemonSet:
		status := &workload.Status
		return status.DesiredNumberScheduled > 0 && status.UpdatedNumberScheduled == status.DesiredNumberScheduled &&
			workload.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType
	default:
		return false
	}
}

// isRolloutSettled returns whether the last rollout of a box is complete. Nil: the box has no spec.rollout.
func isRolloutSettled(rollout *modelv1.ModelBoxRolloutStatus) bool {
	return rollout == nil || rollout.Phase == modelv1.RolloutComplete && rollout.Candidate == nil
}

// isRendered returns whether the live workload is the render of the box, except for the resources.
func isRendered(box *modelv1.ModelBox, live Live) (bool, error) {
	live.BeginsResize = true
	plan, err := planRollout(box, live)
	if err != nil || plan.resize == nil {
		return false, err
	}
	children, err := plan.renderForLive(box, live)
	return err == nil && render.Hash(children[0]) == render.Hash(live.Workload), err
}

// IsIn returns whether the template has the CPU and the memory that the box asks for.
func (r *Resize) IsIn(template *corev1.PodTemplateSpec) bool {
	return podresources.Equal(&template.Spec, &r.Wanted.Spec)
}

// apply gives a rendered workload the resources of its live containers until all pods are resized. Then it halts the workload: a Deployment
// before it gets the new template, and other workloads with the new template. A nil Resize changes nothing.
func (r *Resize) apply(workload runtime.ApplyConfiguration) error {
	if r == nil || r.Phase == modelv1.ResizeCompleting {
		return nil
	}
	isHalted := r.Phase == modelv1.ResizeHalted
	switch workload := workload.(type) {
	case *applyappsv1.DeploymentApplyConfiguration:
		if isHalted {
			workload.Spec.WithPaused(true)
		}
		return r.keepResources(workload.Spec.Template.Spec)
	case *applyappsv1.StatefulSetApplyConfiguration:
		if isHalted {
			setPartition(workload, HaltedPartition)
			return nil
		}
		return r.keepResources(workload.Spec.Template.Spec)
	case *applyappsv1.DaemonSetApplyConfiguration:
		if isHalted {
			workload.Spec.UpdateStrategy.WithType(appsv1.OnDeleteDaemonSetStrategyType)
			return nil
		}
		return r.keepResources(workload.Spec.Template.Spec)
	default:
		return nil
	}
}

// keepResources gives the containers the resources of the live containers.
func (r *Resize) keepResources(spec *applycorev1.PodSpecApplyConfiguration) error {
	for _, containers := range [][]applycorev1.ContainerApplyConfiguration{spec.Containers, spec.InitContainers} {
		for i := range containers {
			live, wanted := podresources.Container(&r.Live.Spec, *containers[i].Name), podresources.Container(&r.Wanted.Spec, *containers[i].Name)
			if live == nil || wanted == nil {
				continue
			}
			kept := podresources.With(wanted.Resources, live.Resources)
			containers[i].Resources = nil
			if kept.Requests == nil && kept.Limits == nil && kept.Claims == nil {
				continue
			}
			containers[i].Resources = &applycorev1.ResourceRequirementsApplyConfiguration{}
			if err := render.ConvertSet(&kept, containers[i].Resources); err != nil {
				return fmt.Errorf("container %s: %w", live.Name, err)
			}
		}
	}
	return nil
}
