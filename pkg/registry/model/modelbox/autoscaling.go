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

// keepAutoscaledReplicas keeps the replicas of a box with an autoscaler, which changes them through the scale. Applying the same
// manifest again would reset the replicas each time. A user can still stop the box with 0 replicas, and start it again.
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

// mostPods returns the maximum number of pods of a box.
func mostPods(spec *model.ModelBoxSpec) int32 {
	replicas := ptr.Deref(spec.Replicas, 1)
	if spec.Autoscaling == nil {
		return replicas
	}
	return max(replicas, spec.Autoscaling.MaxReplicas)
}

// fewestPods returns the minimum number of pods of a box while it has any, and 0 for a box that is stopped.
func fewestPods(spec *model.ModelBoxSpec) int32 {
	replicas := ptr.Deref(spec.Replicas, 1)
	if spec.Autoscaling == nil || replicas == 0 {
		return replicas
	}
	return max(1, ptr.Deref(spec.Autoscaling.MinReplicas, 1))
}

// autoscalingWarnings warns about replicas that the autoscaler will change at once, and about metrics of unknown containers.
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

// hasContainer returns whether the box or its overlay has a container of the name.
func hasContainer(spec *model.ModelBoxSpec, name string) bool {
	isNamed := func(container corev1.Container) bool { return container.Name == name }
	lists := [][]corev1.Container{spec.Containers, spec.InitContainers}
	if spec.PodTemplate != nil {
		lists = append(lists, spec.PodTemplate.Spec.Containers, spec.PodTemplate.Spec.InitContainers)
	}
	return name == spec.Name || slices.ContainsFunc(slices.Concat(lists...), isNamed)
}
