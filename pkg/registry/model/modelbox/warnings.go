// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// ListAll returns the boxes of all namespaces, possibly of a moment ago. They may not be changed.
type ListAll func(ctx context.Context) (*model.ModelBoxList, error)

// maxWarnings is how many warnings of a kind are looked for. A response has room for 4 KiB of them.
const maxWarnings = 16

// warningsOnCreate says what the user of a new box may not expect.
func (s Strategy) warningsOnCreate(ctx context.Context, box *model.ModelBox) []string {
	warnings := append(specWarnings(ctx, box), s.referenceWarnings(box, nil)...)
	warnings = append(warnings, s.networkWarnings(ctx, box, nil)...)
	warnings = append(warnings, s.nodePortWarnings(ctx, box, nil)...)
	return append(warnings, s.hostWarnings(ctx, box, nil)...)
}

// warningsOnUpdate says what the change of a box will do, and what the user may not expect of the result.
func (s Strategy) warningsOnUpdate(ctx context.Context, box, old *model.ModelBox) []string {
	if apiequality.Semantic.DeepEqual(box.Spec, old.Spec) {
		return nil
	}
	warnings := append(sizeWarnings(box), stackWarnings(box, old)...)
	warnings = append(warnings, rolloutWarnings(ctx, box, old, "")...)
	warnings = append(warnings, configWarnings(box, old)...)
	warnings = append(warnings, storageUpdateWarnings(box, old)...)
	warnings = append(warnings, serviceWarnings(box, old)...)
	warnings = append(warnings, ingressUpdateWarnings(box, old)...)
	warnings = append(warnings, replicasWarnings(box, old)...)
	warnings = append(warnings, specWarnings(ctx, box)...)
	warnings = append(warnings, s.referenceWarnings(box, old)...)
	warnings = append(warnings, s.networkWarnings(ctx, box, old)...)
	warnings = append(warnings, s.nodePortWarnings(ctx, box, old)...)
	return append(warnings, s.hostWarnings(ctx, box, old)...)
}

// sizeWarnings is about a spec that an earlier release let have more than has to fit into a record.
func sizeWarnings(box *model.ModelBox) []string {
	size, err := specBytes(box)
	if err != nil || size <= maxSpecBytes {
		return nil
	}
	return []string{fmt.Sprintf("%s: has %d bytes: with more than %d, a box may not be recovered if its store is lost", field.NewPath("spec"), size, maxSpecBytes)}
}

// specWarnings is about what a box says, whatever it said before.
func specWarnings(ctx context.Context, box *model.ModelBox) []string {
	spec, path := &box.Spec, field.NewPath("spec")
	warnings := imageWarnings(spec.Image, path.Child("image"))
	for i := range spec.Containers {
		warnings = append(warnings, imageWarnings(spec.Containers[i].Image, path.Child("containers").Index(i).Child("image"))...)
	}
	for i := range spec.InitContainers {
		warnings = append(warnings, imageWarnings(spec.InitContainers[i].Image, path.Child("initContainers").Index(i).Child("image"))...)
	}
	warnings = append(warnings, jobImageWarnings(spec.Before, path.Child("before"))...)
	warnings = append(warnings, jobImageWarnings(spec.After, path.Child("after"))...)
	warnings = append(warnings, strategyWarnings(spec, path)...)
	warnings = append(warnings, stepWeightWarnings(box, path)...)
	warnings = append(warnings, stepConfigWarnings(box, path)...)
	warnings = append(warnings, workloadWarnings(spec, path)...)
	warnings = append(warnings, storageWarnings(spec, path)...)
	warnings = append(warnings, autoscalingWarnings(spec, path)...)
	warnings = append(warnings, disruptionWarnings(spec, path)...)
	warnings = append(warnings, serviceOptionWarnings(spec, path)...)
	warnings = append(warnings, sharedHostWarnings(spec, path)...)
	warnings = append(warnings, disabledProbeWarnings(spec, path)...)
	if spec.ServiceType != "" && len(spec.Ports) == 0 && !namesPods(spec) {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("serviceType"), warn.NoEffectWithoutPorts))
	}
	if spec.StartupProbe != nil && !hasDelayedProbe(ctx, box) {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("startupProbe"), warn.NoProbeToDelay))
	}
	return warnings
}

// namesPods returns whether the type of the Service decides in whose domain pods have their names, with ports or without.
func namesPods(spec *model.ModelBoxSpec) bool {
	return spec.Workload == model.WorkloadStatefulSet && spec.ServiceType == model.ServiceTypeHeadless
}

// hasDelayedProbe returns whether the main container has a probe that begins when its startup probe has passed, given by
// the box, its overlay or by default.
func hasDelayedProbe(ctx context.Context, box *model.ModelBox) bool {
	template, err := boxview.PodTemplate(ctx, box)
	return err != nil || slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == box.Spec.Name && (c.LivenessProbe != nil || c.ReadinessProbe != nil)
	})
}

// jobImageWarnings is imageWarnings for a Job with its own image.
func jobImageWarnings(job *model.ModelBoxJob, path *field.Path) []string {
	if job == nil || job.Image == "" {
		return nil
	}
	return imageWarnings(job.Image, path.Child("image"))
}

// imageWarnings is about images whose meaning may change from one pod to the next.
func imageWarnings(image string, path *field.Path) []string {
	if strings.Contains(image, "@") {
		return nil
	}
	_, tag, hasTag := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	switch {
	case !hasTag:
		return []string{fmt.Sprintf("%s: %s", path, warn.NoTag(image))}
	case tag == "latest":
		return []string{fmt.Sprintf("%s: %s", path, warn.LatestTag)}
	default:
		return nil
	}
}

// nodePortWarnings is about node ports, new ones, that another box asks for as well: only one of them can have it.
func (s Strategy) nodePortWarnings(ctx context.Context, box, old *model.ModelBox) []string {
	asked := nodePorts(box)
	if old != nil {
		for key := range nodePorts(old) {
			delete(asked, key)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	boxes, err := s.listAll(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Looking for the node ports of other boxes failed", "err", err)
		return nil
	}
	var warnings []string
	visible := s.visibility()
	for i := range boxes.Items {
		if len(warnings) >= maxWarnings {
			break
		}
		other := &boxes.Items[i]
		if other.Namespace == box.Namespace && other.Name == box.Name {
			continue
		}
		for _, port := range other.Spec.Ports {
			key := nodePort{port.NodePort, port.Protocol}
			if path, ok := asked[key]; ok {
				warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.AlreadyRequested(fmt.Sprintf("%d/%s", key.number, key.protocol), visible.name(ctx, other))))
				delete(asked, key)
			}
		}
	}
	return warnings
}

type nodePort struct {
	number   int32
	protocol corev1.Protocol
}

// nodePorts returns the node ports that the box asks for, with where it does.
func nodePorts(box *model.ModelBox) map[nodePort]*field.Path {
	ports := map[nodePort]*field.Path{}
	for i := range box.Spec.Ports {
		if port := &box.Spec.Ports[i]; port.NodePort != 0 {
			ports[nodePort{port.NodePort, port.Protocol}] = field.NewPath("spec", "ports").Index(i).Child("nodePort")
		}
	}
	return ports
}
