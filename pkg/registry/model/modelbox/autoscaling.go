// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// keepAutoscaledReplicas leaves the number of pods of a box with an autoscaler to that one, which changes it through the
// scale: what the box says is where it started. Applied again and again, it would take pods away each time. None stops the
// box all the same, and a number starts it again.
func keepAutoscaledReplicas(ctx context.Context, box, old *model.ModelBox) {
	if box.Spec.Autoscaling == nil || old.Spec.Autoscaling == nil {
		return
	}
	asked, current := replicasOf(box), replicasOf(old)
	if asked == current || asked == 0 || current == 0 {
		return
	}
	box.Spec.Replicas = ptr.To(current)
	warning.AddWarning(ctx, "", "spec.replicas: "+warn.ReplicasStay(current, asked))
}

// mostPods is how many pods a box may have.
func mostPods(spec *model.ModelBoxSpec) int32 {
	replicas := ptr.Deref(spec.Replicas, 1)
	if spec.Autoscaling == nil {
		return replicas
	}
	return max(replicas, spec.Autoscaling.MaxReplicas)
}

// fewestPods is how many pods a box that is not stopped has at least.
func fewestPods(spec *model.ModelBoxSpec) int32 {
	replicas := ptr.Deref(spec.Replicas, 1)
	if spec.Autoscaling == nil || replicas == 0 {
		return replicas
	}
	return ptr.Deref(spec.Autoscaling.MinReplicas, 1)
}

// autoscalingWarnings is about a number of pods that does not last, and about containers that another controller must add.
func autoscalingWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	autoscaling := spec.Autoscaling
	if autoscaling == nil {
		return nil
	}
	var warnings []string
	replicas, minimum := ptr.Deref(spec.Replicas, 1), ptr.Deref(autoscaling.MinReplicas, 1)
	path = path.Child("autoscaling")
	switch {
	case replicas > autoscaling.MaxReplicas:
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("maxReplicas"), warn.ReplicasRemoved(replicas)))
	case replicas > 0 && replicas < minimum:
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("minReplicas"), warn.ReplicasAdded(replicas)))
	}
	for i := range autoscaling.Metrics {
		source := autoscaling.Metrics[i].ContainerResource
		if source == nil || hasContainer(spec, source.Container) {
			continue
		}
		if len(warnings) == maxWarnings {
			break
		}
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("metrics").Index(i).Child("containerResource", "container"), warn.NoContainer(source.Container)))
	}
	return warnings
}

// hasContainer returns whether the pods have a container of the name, of which the overlay may add some.
func hasContainer(spec *model.ModelBoxSpec, name string) bool {
	isNamed := func(container corev1.Container) bool { return container.Name == name }
	lists := [][]corev1.Container{spec.Containers, spec.InitContainers}
	if spec.PodTemplate != nil {
		lists = append(lists, spec.PodTemplate.Spec.Containers, spec.PodTemplate.Spec.InitContainers)
	}
	return name == spec.Name || slices.ContainsFunc(slices.Concat(lists...), isNamed)
}
