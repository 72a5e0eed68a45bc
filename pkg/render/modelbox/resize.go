// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	deployment, isDeployment := live.Workload.(*appsv1.Deployment)
	if !box.Spec.ResizesInPlace() || box.Spec.Paused || !isDeployment || !metav1.IsControlledBy(deployment, box) {
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
	resize := &Resize{Live: &deployment.Spec.Template}
	if resize.Wanted, err = PodTemplate(box); err != nil {
		return nil, err
	}
	if last != nil && last.Phase != modelv1.ResizeRestarting {
		resize.Phase = last.Phase
	}
	if resize.Phase == modelv1.ResizeCompleting && !isSame {
		resize.Phase = modelv1.ResizeHalted // The ReplicaSet may have the template of the last resize.
	}
	resize.Obstacle = podresources.Obstacle(&resize.Live.Spec, &resize.Wanted.Spec)
	if resize.Obstacle != "" && box.Spec.Resize.Mode == modelv1.ResizeInPlaceOrRestart {
		return nil, nil
	}
	return resize, nil
}

// MayBeginResize returns false if BeginsResize is false for this workload, which may be from a cache, and otherwise true.
func MayBeginResize(box *modelv1.ModelBox, workload metav1.Object) (bool, error) {
	deployment, isDeployment := workload.(*appsv1.Deployment)
	if !box.Spec.ResizesInPlace() || box.Spec.Paused || !isDeployment || !metav1.IsControlledBy(deployment, box) {
		return false, nil
	}
	last := box.Status.Resize
	isInPlace := last != nil && last.Phase != modelv1.ResizeRestarting
	if !isInPlace && (!isSettled(deployment) || !isRolloutSettled(box.Status.Rollout)) {
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
	if err != nil || podresources.Equal(&deployment.Spec.Template.Spec, &wanted.Spec) {
		return false, err
	}
	return box.Spec.Resize.Mode == modelv1.ResizeInPlaceOnly || podresources.Obstacle(&deployment.Spec.Template.Spec, &wanted.Spec) == "", nil
}

// BeginsResize returns whether the box begins a resize in place while these objects are live: it differs from what its workload was last
// rendered from in nothing about its pods but resources that pods can get in place. The workload must not be from a cache, which does not
// keep the record of the box.
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
	return err == nil && podresources.EqualExceptResources(before, wanted), err
}

// isOf returns whether the resize, which may be nil, is about the pods that the box asks for.
func isOf(resize *modelv1.ModelBoxResizeStatus, box *modelv1.ModelBox) (bool, error) {
	if resize == nil {
		return false, nil
	}
	hash, err := PodsHash(box)
	return hash == resize.PodsHash, err
}

// isSettled returns whether the Deployment has pods, and all of them have its template.
func isSettled(deployment *appsv1.Deployment) bool {
	replicas, status := ptr.Deref(deployment.Spec.Replicas, 1), &deployment.Status
	return replicas > 0 && !deployment.Spec.Paused && status.UpdatedReplicas == replicas && status.Replicas == replicas
}

// isRolloutSettled returns whether the last rollout of a box is complete. Nil: the box has no spec.rollout.
func isRolloutSettled(rollout *modelv1.ModelBoxRolloutStatus) bool {
	return rollout == nil || rollout.Phase == modelv1.RolloutComplete && rollout.Candidate == nil
}

// isRendered returns whether the live workload is the render of the box, except for the resources.
func isRendered(box *modelv1.ModelBox, live Live) (bool, error) {
	live.BeginsResize = true
	resize, err := ResizeOf(box, live)
	if err != nil || resize == nil {
		return false, err
	}
	template, err := podTemplate(box)
	if err != nil {
		return false, err
	}
	workload := deployment(box, ScalingBeside(box, live), template)
	if err := resize.keepResources(workload); err != nil {
		return false, err
	}
	rendered, err := render.WithHash(workload)
	return err == nil && render.Hash(rendered) == render.Hash(live.Workload), err
}

// IsIn returns whether the template has the CPU and the memory that the box asks for.
func (r *Resize) IsIn(template *corev1.PodTemplateSpec) bool {
	return podresources.Equal(&template.Spec, &r.Wanted.Spec)
}

// keepResources gives the workload the resources of its live containers, until all pods are resized, and halts it meanwhile if the resize
// says so. A nil Resize changes nothing.
func (r *Resize) keepResources(workload *applyappsv1.DeploymentApplyConfiguration) error {
	if r == nil || r.Phase == modelv1.ResizeCompleting {
		return nil
	}
	if r.Phase == modelv1.ResizeHalted {
		workload.Spec.WithPaused(true)
	}
	spec := workload.Spec.Template.Spec
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
