// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/autoscaling"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// newEngine returns what keeps the children of boxes.
func (c *Controller) newEngine() *children.Engine[*modelv1.ModelBox] {
	return children.NewEngine(children.Config[*modelv1.ModelBox]{
		Owners: modelboxapply.Owners(),
		GetOwner: func(ctx context.Context, namespace, name string) (*modelv1.ModelBox, error) {
			return c.modelClient.ModelV1().ModelBoxes(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		IsPaused:      func(box *modelv1.ModelBox) bool { return box.Spec.Paused },
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

// setEngine sets what keeps the children of boxes.
func (c *Controller) setEngine(engine *children.Engine[*modelv1.ModelBox]) {
	c.children, c.storage.Children = engine, engine
}

// render returns the children that the box asks for while these are there.
func (c *Controller) render(box *modelv1.ModelBox, live children.Live) ([]*unstructured.Unstructured, error) {
	beside, err := c.liveBeside(box, live)
	if err != nil {
		return nil, err
	}
	rendered, err := modelboxrender.RenderForLive(box, beside)
	if err != nil {
		return nil, fmt.Errorf("rendering the children: %w", err)
	}
	return rendered, nil
}

// liveBeside returns the state of the live children that decides about the children of the box.
func (c *Controller) liveBeside(box *modelv1.ModelBox, live children.Live) (modelboxrender.Live, error) {
	workload, err := live.Child(modelboxrender.WorkloadKind(box), box.Name)
	if err != nil {
		return modelboxrender.Live{}, err
	}
	beside, err := c.workloadBeside(box, workload)
	if err != nil {
		return beside, err
	}
	for _, name := range modelboxrender.ClaimNames(box) {
		object, err := live.Child(kinds.ClaimGVK, name)
		if err != nil {
			return beside, err
		}
		if claim, isThere := object.(*corev1.PersistentVolumeClaim); isThere {
			if beside.Claims == nil {
				beside.Claims = map[string]*corev1.PersistentVolumeClaim{}
			}
			beside.Claims[name] = claim
		}
	}
	return beside, nil
}

// workloadBeside returns what the pods of the box depend on while its workload is the live one, which may be nil.
func (c *Controller) workloadBeside(box *modelv1.ModelBox, workload metav1.Object) (modelboxrender.Live, error) {
	var beside modelboxrender.Live
	beside.StableRecord, _ = c.rollouts.StableRecords.Find(box)
	beside.BeginsResize = c.resizes.Begins(box)
	if workload == nil {
		return beside, nil
	}
	beside.Workload = workload
	var err error
	beside.IsScaled, err = autoscaling.IsScaled(c.autoscalers, modelboxrender.WorkloadKind(box).GroupKind(), apply.KeyOf(workload))
	return beside, err
}

// readWorkload reads the workload of the box from the cluster, and returns it with what the pods of the box depend on.
func (c *Controller) readWorkload(ctx context.Context, box *modelv1.ModelBox) (modelboxrender.Live, error) {
	workload, err := c.rollouts.GetWorkload(ctx, box)
	if err != nil {
		return modelboxrender.Live{}, err
	}
	return c.workloadBeside(box, workload)
}

// reportUnrecorded records, once, that a box has no record on any child, which only one can be too large for that was
// stored by an earlier release.
func (c *Controller) reportUnrecorded(box *modelv1.ModelBox, rendered []*unstructured.Unstructured) {
	for _, child := range rendered {
		if _, isRecorded := child.GetAnnotations()[modelv1.RecordAnnotation]; isRecorded {
			c.unrecorded.Forget(apply.KeyOf(box))
			return
		}
	}
	if _, isReported := c.unrecorded.Get(apply.KeyOf(box)); !isReported {
		c.unrecorded.Set(apply.KeyOf(box), true)
		c.eventf(box, corev1.EventTypeWarning, "NotRecorded", "Reconcile",
			"The box is too large to be recorded on its %s, and would not be recovered if its store were lost: its spec has %d bytes", box.Spec.Workload, box.Spec.Size())
	}
}
