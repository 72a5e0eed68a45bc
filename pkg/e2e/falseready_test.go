// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestBoxIsNotReadyBeforeItsRolloutIsComplete watches a box through changes of every kind that takes pods. Once the box says Ready
// for a change, nothing changes any more: what the Deployment is right after that it was at that moment, or nearly.
func TestBoxIsNotReadyBeforeItsRolloutIsComplete(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	onePodAtATime := func(spec *modelv1.ModelBoxSpec) {
		spec.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromInt32(1))
		spec.MinReadySeconds = ptr.To[int32](2)
	}
	n.createReady(newBox("web", withReplicas(3), onePodAtATime))
	for _, step := range []struct {
		name   string
		change func(*modelv1.ModelBoxSpec)
	}{
		{"a new image", withImage(newImage)},
		{"more pods", withReplicas(5)},
		{"fewer pods", withReplicas(1)},
		{"a new image of the only pod", withImage(image)},
	} {
		t.Run(step.name, func(t *testing.T) {
			n := n.in(t)
			n.expectNotReadyBeforeItsEnd(step.change)
		})
	}
}

func (n *namespace) expectNotReadyBeforeItsEnd(change func(*modelv1.ModelBoxSpec)) {
	n.t.Helper()
	watch, err := n.boxes.Watch(n.ctx, metav1.ListOptions{ResourceVersion: n.box("web").ResourceVersion})
	if err != nil {
		n.t.Fatal(err)
	}
	defer watch.Stop()
	changed := n.change("web", change)
	deadline := time.After(patience)
	for before := 0; ; before++ {
		var box *modelv1.ModelBox
		select {
		case event, open := <-watch.ResultChan():
			if !open {
				n.t.Fatal("the watch ended")
			}
			box = event.Object.(*modelv1.ModelBox)
		case <-deadline:
			n.t.Fatal("the box does not get Ready")
		}
		if box.Generation != changed.Generation || hasCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "") != nil {
			continue
		}
		status, replicas := &box.Status, *changed.Spec.Replicas
		expectEqual(n.t, "replicas, updated and available ones of a box that says Ready", []int32{replicas, replicas, replicas},
			[]int32{status.Replicas, status.UpdatedReplicas, status.AvailableReplicas})
		deployment := n.deployment("web")
		if err := isComplete(deployment); err != nil {
			n.t.Errorf("the box says Ready, and of its Deployment %v", err)
		}
		expectEqual(n.t, "image", changed.Spec.Image, deployment.Spec.Template.Spec.Containers[0].Image)
		expectEqual(n.t, "replicas", changed.Spec.Replicas, deployment.Spec.Replicas)
		if before < 2 {
			n.t.Errorf("the rollout was over before anything was seen of it: %d changes of the box before it was Ready", before)
		}
		return
	}
}
