// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/apps"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// settled checks what must be true when everything has settled.
func (c *checks) settled(ctx context.Context) {
	for _, box := range c.boxes() {
		c.checkStatus(box)
		c.checkChildren(ctx, box)
	}
	c.checkPodDebuggers()
	c.checkDeletions()
	c.checkOwners()
	c.checkAnnotations()
}

// checkDeletions checks that no object waits for its deletion.
func (c *checks) checkDeletions() {
	for _, object := range append(c.world.modelBox.Objects("/"), c.world.kubernetes.Objects("/")...) {
		if object, err := apimeta.Accessor(object); err == nil && object.GetDeletionTimestamp() != nil {
			c.violate("every deletion ends", "%T %s has the finalizers %v", object, object.GetName(), object.GetFinalizers())
		}
	}
}

// checkStatus checks that the status of the box is true.
func (c *checks) checkStatus(box *model.ModelBox) {
	ready := apimeta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	switch {
	case box.DeletionTimestamp != nil:
		return
	case ready == nil || box.Status.ObservedGeneration != box.Generation:
		c.violate("the status is of the present box", "box %s of generation %d has %d", box.Name, box.Generation, box.Status.ObservedGeneration)
		return
	}
	if runsToCompletion(box) {
		// A Job that has failed is not run again, and a Job of an earlier image does not end.
		isOver := apimeta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionStalled) || ready.Reason == modelv1.ReasonLastJobFailed
		if ready.Status != metav1.ConditionTrue && runs(box) && !isOver && !isRefused(box) && !c.hasWaitingPod(box) {
			c.violate("a box that can be ready is ready", "Job box %s: %s %s", box.Name, ready.Reason, ready.Message)
		}
		return
	}
	pods, desired, updated, others := c.pods(box), c.desired(box), 0, 0
	for _, pod := range pods {
		if pod.Spec.Containers[0].Image == box.Spec.Image && cluster.IsReady(pod) && pod.DeletionTimestamp == nil {
			updated++
		} else {
			others++
		}
	}
	if ready.Status == metav1.ConditionTrue {
		c.checkTraffic(box, pods, desired)
		c.checkRestarts(box, pods)
	}
	switch {
	case ready.Status == metav1.ConditionTrue && (updated != desired || others > 0):
		c.violate("a box that is ready has its pods", "box %s: %s %s; %d of %d pods ready, %d others", box.Name, ready.Reason, ready.Message, updated, desired, others)
	case ready.Status != metav1.ConditionTrue && runs(box) && !waitsForUser(box) && !isRefused(box):
		c.violate("a box that can be ready is ready", "box %s: %s %s; %d of %d pods ready, %d others", box.Name, ready.Reason, ready.Message, updated, desired, others)
	}
}

// hasWaitingPod returns whether a pod of the box waits for an image that does not run.
func (c *checks) hasWaitingPod(box *model.ModelBox) bool {
	return slices.ContainsFunc(c.world.kubernetes.Objects("/pods/"+box.Namespace+"/"), func(object runtime.Object) bool {
		pod := object.(*api.Pod)
		return pod.Labels[modelv1.SelectorLabel] == box.Name && pod.Status.Phase == api.PodPending && !cluster.Runs(pod.Spec.Containers[0].Image)
	})
}

// checkTraffic checks that the Service of a box leads to its pods, and that nothing is left of a candidate.
func (c *checks) checkTraffic(box *model.ModelBox, pods []*api.Pod, desired int) {
	if reached, exists := c.reached(box, box.Name, pods); exists && reached != desired {
		c.violate("the Service of a box leads to its pods", "box %s: %d of %d pods", box.Name, reached, desired)
	}
	for _, object := range c.world.kubernetes.Objects("/deployments/" + box.Namespace + "/") {
		if deployment := object.(*apps.Deployment); deployment.Name != box.Name && metav1.IsControlledBy(deployment, box) {
			c.violate("nothing is left of a candidate", "Deployment %s of box %s", deployment.Name, box.Name)
		}
	}
}

// checkChildren checks that the children of the box are as it says.
func (c *checks) checkChildren(ctx context.Context, box *model.ModelBox) {
	if box.Spec.Paused || box.DeletionTimestamp != nil || isRefused(box) {
		return
	}
	diff, err := c.world.users.boxes.GetDiff(ctx, box.Name, metav1.GetOptions{})
	if err != nil {
		c.violate("children are as their box says", "box %s: %v", box.Name, err)
		return
	}
	for _, child := range diff.Children {
		// Children that former pods need are deleted when the box is ready. No pod starts before the Job of spec.before has succeeded.
		isReady := apimeta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionReady)
		isLater := child.Action == modelv1.DiffActionDelete || box.Spec.Before != nil
		if child.Action != modelv1.DiffActionNone && (isReady || !isLater) {
			c.violate("children are as their box says", "box %s: %s %s: %s %s %s", box.Name, child.Kind, child.Name, child.Action, child.Message, encode(child.Fields))
		}
	}
}

// checkOwners checks that no object is left of an owner that has gone.
func (c *checks) checkOwners() {
	owners := map[types.UID]bool{}
	objects := append(c.world.modelBox.Objects("/"), c.world.kubernetes.Objects("/")...)
	for _, object := range objects {
		if object, err := apimeta.Accessor(object); err == nil {
			owners[object.GetUID()] = true
		}
	}
	for _, object := range objects {
		object, err := apimeta.Accessor(object)
		if err != nil {
			continue
		}
		for _, owner := range object.GetOwnerReferences() {
			if !owners[owner.UID] && !c.isReplaced(object.GetNamespace(), owner) {
				c.violate("nothing is left of a deleted box", "%T %s of %s %s", object, object.GetName(), owner.Kind, owner.Name)
			}
		}
	}
}

// isReplaced returns whether the store was lost, and there is another box of the name. The garbage collector lists boxes again after the
// loss. If a box was lost and created again until then, it keeps the children of the former one.
func (c *checks) isReplaced(namespace string, owner metav1.OwnerReference) bool {
	return c.world.stats.Losses > 0 && owner.Kind == modelboxrender.Kind.Kind && c.world.modelBox.Object(boxPrefix+namespace+"/"+owner.Name) != nil
}

// checkAnnotations checks that the annotations of others are where they were written.
func (c *checks) checkAnnotations() {
	for _, object := range c.world.kubernetes.Objects("/deployments/") {
		if deployment := object.(*apps.Deployment); c.annotated[deployment.UID] && deployment.Annotations[foreignAnnotation] == "" {
			c.violate("fields of others stay", "annotation of Deployment %s", deployment.Name)
		}
	}
}
