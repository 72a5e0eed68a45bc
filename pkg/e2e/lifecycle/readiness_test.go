// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestBoxIsNotReadyBeforeItsRolloutIsComplete watches a box during changes that replace pods. After the box is Ready for a change,
// its Deployment must not change. The test reads the Deployment immediately after that.
func TestBoxIsNotReadyBeforeItsRolloutIsComplete(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	onePodAtATime := func(spec *modelv1.ModelBoxSpec) {
		spec.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromInt32(1))
		spec.MinReadySeconds = ptr.To[int32](2)
	}
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(3), onePodAtATime))
	for _, step := range []struct {
		name   string
		change func(*modelv1.ModelBoxSpec)
	}{
		{"a new image", framework.WithImage(framework.NewImage)},
		{"more pods", framework.WithReplicas(5)},
		{"fewer pods", framework.WithReplicas(1)},
		{"a new image of the only pod", framework.WithImage(framework.Image)},
	} {
		t.Run(step.name, func(t *testing.T) {
			n := n.In(t)
			expectNotReadyBeforeItsEnd(n, step.change)
		})
	}
}

func expectNotReadyBeforeItsEnd(n *framework.Namespace, change func(*modelv1.ModelBoxSpec)) {
	n.T.Helper()
	watch, err := n.Boxes.Watch(n.Ctx, metav1.ListOptions{ResourceVersion: n.GetBox("web").ResourceVersion})
	if err != nil {
		n.T.Fatal(err)
	}
	defer watch.Stop()
	changed := n.UpdateBox("web", change)
	deadline := time.After(framework.Patience)
	for before := 0; ; before++ {
		var box *modelv1.ModelBox
		select {
		case event, open := <-watch.ResultChan():
			if !open {
				n.T.Fatal("the watch ended")
			}
			box = event.Object.(*modelv1.ModelBox)
		case <-deadline:
			n.T.Fatal("the box does not get Ready")
		}
		if box.Generation != changed.Generation || framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "") != nil {
			continue
		}
		status, replicas := &box.Status, *changed.Spec.Replicas
		framework.ExpectEqual(n.T, "replicas, updated and available ones of a box that says Ready", []int32{replicas, replicas, replicas},
			[]int32{status.Replicas, status.UpdatedReplicas, status.AvailableReplicas})
		deployment := n.GetDeployment("web")
		if err := framework.CheckRolledOut(deployment); err != nil {
			n.T.Errorf("the box says Ready, and of its Deployment %v", err)
		}
		framework.ExpectEqual(n.T, "image", changed.Spec.Image, deployment.Spec.Template.Spec.Containers[0].Image)
		framework.ExpectEqual(n.T, "replicas", changed.Spec.Replicas, deployment.Spec.Replicas)
		if before < 2 {
			n.T.Errorf("the rollout was over before anything was seen of it: %d changes of the box before it was Ready", before)
		}
		return
	}
}
