// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newPodDebugger returns a PodDebugger for the pods of some boxes. Its container is always the same, because it cannot be changed.
func newPodDebugger(random *rand.Rand) modelv1.PodDebuggerSpec {
	policies := []modelv1.PodDebuggerDeletionPolicy{modelv1.PodDebuggerRetain, modelv1.PodDebuggerRestartBoxes}
	first := random.IntN(len(boxNames))
	return modelv1.PodDebuggerSpec{
		Image: "debug:1",
		Selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: modelv1.SelectorLabel, Operator: metav1.LabelSelectorOpIn, Values: boxNames[first:]},
		}},
		MaxPods:     ptr.To(int32(modelv1.MaxPodDebuggerPods)),
		WhenDeleted: policies[random.IntN(len(policies))],
	}
}

// checkPodDebuggers checks that all ready pods that a PodDebugger selects have its container.
func (c *checks) checkPodDebuggers() {
	for _, object := range c.world.modelBox.Objects(modelBoxPrefix + "poddebuggers/") {
		debugger := object.(*model.PodDebugger)
		selector, err := metav1.LabelSelectorAsSelector(&debugger.Spec.Selector)
		if err != nil || debugger.Status.ObservedGeneration != debugger.Generation {
			c.violate("the status is of the present PodDebugger", "generation %d has %d: %v", debugger.Generation, debugger.Status.ObservedGeneration, err)
			continue
		}
		for _, object := range c.world.kubernetes.Objects("/pods/" + namespace + "/") {
			pod := object.(*api.Pod)
			if selector.Matches(labels.Set(pod.Labels)) && cluster.IsReady(pod) && len(pod.Spec.EphemeralContainers) == 0 {
				c.violate("selected pods have the container of their PodDebugger", "pod %s", pod.Name)
			}
		}
	}
}
