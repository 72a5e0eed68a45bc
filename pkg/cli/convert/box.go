// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/scheme"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// conversion is what becomes of one Deployment.
type conversion struct {
	live     *appsv1.Deployment
	services []corev1.Service

	// box says what the Deployment and its Service are, as it is printed and created.
	box *unstructured.Unstructured
	// template is the pod template of the Deployment, as the box renders it.
	template *corev1.PodTemplateSpec
	findings []finding
}

// defaultDeployment returns a Deployment as the API would store it.
type defaultDeployment func(context.Context, *appsv1.Deployment) (*appsv1.Deployment, error)

// convert makes the box of the Deployment and the Services that select its pods.
func (c *conversion) convert(ctx context.Context, withDefaults defaultDeployment) error {
	live := c.live
	box := &modelv1.ModelBox{
		TypeMeta: metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelBox"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: live.Namespace, Name: live.Name, Annotations: map[string]string{modelv1.AdoptAnnotation: "true"},
		},
	}
	setWorkload(&box.Spec, live)
	c.setService(box)
	if err := c.setProbes(box); err != nil {
		return err
	}
	if err := c.setOverlay(ctx, box, withDefaults); err != nil {
		return err
	}
	if err := c.print(box); err != nil {
		return err
	}
	return c.compare(ctx, withDefaults)
}

// defaultRevisionHistoryLimit is the one of Deployments.
const defaultRevisionHistoryLimit = 10

// setWorkload sets what fields of a box say of a Deployment. The main container is the first one, for pods list it first.
func setWorkload(spec *modelv1.ModelBoxSpec, live *appsv1.Deployment) {
	pod := live.Spec.Template.Spec.DeepCopy()
	main := &pod.Containers[0]
	if main.Name != live.Name {
		spec.Name = main.Name
	}
	spec.Image, spec.Command, spec.Args = main.Image, main.Command, main.Args
	spec.Envs, spec.EnvFrom, spec.VolumeMounts = main.Env, main.EnvFrom, main.VolumeMounts
	spec.ReadinessProbe, spec.LivenessProbe, spec.StartupProbe = main.ReadinessProbe, main.LivenessProbe, main.StartupProbe
	if !apiequality.Semantic.DeepEqual(main.Resources, corev1.ResourceRequirements{}) {
		spec.Resources = &main.Resources
	}
	spec.Containers, spec.InitContainers, spec.Volumes = pod.Containers[1:], pod.InitContainers, pod.Volumes
	spec.ServiceAccountName, spec.ImagePullSecrets = pod.ServiceAccountName, pod.ImagePullSecrets

	if replicas := live.Spec.Replicas; replicas != nil && *replicas != modelv1.DefaultReplicas {
		spec.Replicas = replicas
	}
	if seconds := live.Spec.MinReadySeconds; seconds != modelv1.DefaultMinReadySeconds {
		spec.MinReadySeconds = &seconds
	}
	if seconds := live.Spec.ProgressDeadlineSeconds; seconds != nil && *seconds != modelv1.DefaultProgressDeadlineSeconds {
		spec.ProgressDeadlineSeconds = seconds
	}
	if limit := live.Spec.RevisionHistoryLimit; limit != nil && *limit != defaultRevisionHistoryLimit {
		spec.RevisionHistoryLimit = ptr.To(min(*limit, modelv1.MaxRevisionHistoryLimit))
	}
	if live.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		spec.Strategy = modelv1.StrategyRecreate
	}
	if rolling, quarter := live.Spec.Strategy.RollingUpdate, intstr.FromString("25%"); rolling != nil &&
		rolling.MaxSurge != nil && rolling.MaxUnavailable != nil && (*rolling.MaxSurge != quarter || *rolling.MaxUnavailable != quarter) {
		spec.RollingUpdate = &modelv1.RollingUpdate{
			Type: modelv1.RollingUpdateObject, MaxSurge: rolling.MaxSurge, MaxUnavailable: rolling.MaxUnavailable,
		}
	}
}

// setProbes keeps the server from adding probes that the pods do not have.
func (c *conversion) setProbes(box *modelv1.ModelBox) error {
	template, err := rendered(box)
	if err != nil {
		return err
	}
	main, was := &template.Spec.Containers[0], &c.live.Spec.Template.Spec.Containers[0]
	for _, probe := range []struct{ is, was *corev1.Probe }{
		{main.ReadinessProbe, was.ReadinessProbe}, {main.LivenessProbe, was.LivenessProbe}, {main.StartupProbe, was.StartupProbe},
	} {
		if probe.is != nil && probe.was == nil {
			box.Spec.DefaultProbes = modelv1.DefaultProbesDisabled
		}
	}
	return nil
}

// rendered returns the pod template of a box.
func rendered(box *modelv1.ModelBox) (*corev1.PodTemplateSpec, error) {
	box = box.DeepCopy()
	scheme.Scheme.Default(box)
	return modelboxrender.PodTemplate(box)
}

// inDeployment returns the template of a box as the API stores it in the Deployment.
func (c *conversion) inDeployment(ctx context.Context, box *modelv1.ModelBox, withDefaults defaultDeployment) (*corev1.PodTemplateSpec, error) {
	template, err := rendered(box)
	if err != nil {
		return nil, err
	}
	deployment := c.live.DeepCopy()
	deployment.Spec.Template = *template
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: modelboxrender.Selector(box)}
	if deployment, err = withDefaults(ctx, deployment); err != nil {
		return nil, err
	}
	return &deployment.Spec.Template, nil
}

// setOverlay puts into spec.podTemplate in what the template of the Deployment differs from that which the other fields make.
func (c *conversion) setOverlay(ctx context.Context, box *modelv1.ModelBox, withDefaults defaultDeployment) error {
	made, err := c.inDeployment(ctx, box, withDefaults)
	if err != nil {
		return err
	}
	wanted := c.live.Spec.Template.DeepCopy()
	adopt.Defer(&wanted.Spec, &made.Spec)
	if seconds := c.live.Spec.Template.Spec.TerminationGracePeriodSeconds; seconds != nil && *seconds != corev1.DefaultTerminationGracePeriodSeconds {
		wanted.Spec.TerminationGracePeriodSeconds = seconds
	}
	wanted.Labels = adopt.Merged(made.Labels, wanted.Labels)
	wanted.Labels[modelv1.SelectorLabel] = box.Name
	if was, ok := c.live.Spec.Template.Labels[modelv1.SelectorLabel]; ok && was != box.Name {
		c.add(refused, "spec.template.metadata.labels[%s] of the Deployment is %q, but the server sets it to %q", modelv1.SelectorLabel, was, box.Name)
	}
	overlay, err := difference(made, wanted)
	if err != nil {
		return err
	}
	if !apiequality.Semantic.DeepEqual(overlay, &corev1.PodTemplateSpec{}) {
		box.Spec.PodTemplate = overlay
	}
	return nil
}

// difference returns the strategic merge patch that sets the fields in which the second template differs from the first one. It
// does not remove fields.
func difference(from, to *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encoding a pod template: %w", err)
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, fmt.Errorf("encoding a pod template: %w", err)
	}
	data, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, fmt.Errorf("comparing pod templates: %w", err)
	}
	patch := map[string]any{}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, fmt.Errorf("decoding the difference of pod templates: %w", err)
	}
	overlay := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(additions(patch).(map[string]any), overlay); err != nil {
		return nil, fmt.Errorf("decoding the difference of pod templates: %w", err)
	}
	return overlay, nil
}

// additions returns a patch without its directives and what they take out.
func additions(value any) any {
	switch value := value.(type) {
	case map[string]any:
		added := map[string]any{}
		for key, field := range value {
			if field != nil && !helper.IsMergeDirective(key) {
				added[key] = additions(field)
			}
		}
		return added
	case []any:
		var added []any
		for _, element := range value {
			if element, ok := element.(map[string]any); ok && element["$patch"] == "delete" {
				continue
			}
			added = append(added, additions(element))
		}
		return added
	}
	return value
}

// print makes the manifest of the box, without what is as the API has it by default.
func (c *conversion) print(box *modelv1.ModelBox) (err error) {
	if c.box, err = cliutil.Manifest(box); err != nil {
		return err
	}
	prune(c.box.Object["spec"])
	return nil
}

// typed returns the box as it is created.
func (c *conversion) typed() (*modelv1.ModelBox, error) {
	box := &modelv1.ModelBox{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.box.Object, box); err != nil {
		return nil, fmt.Errorf("converting the box: %w", err)
	}
	return box, nil
}

// compare says in what the Deployment will not be what it is.
func (c *conversion) compare(ctx context.Context, withDefaults defaultDeployment) error {
	box, err := c.typed()
	if err != nil {
		return err
	}
	if c.template, err = c.inDeployment(ctx, box, withDefaults); err != nil {
		return err
	}
	change, err := adopt.CompareTemplates(&c.live.Spec.Template, c.template)
	if err != nil {
		return err
	}
	for _, field := range change.Disruptive {
		c.add(disruptive, "a box cannot express %s of the Deployment: its pods would be replaced", field)
	}
	for _, field := range change.Deferred {
		c.add(note, "%s changes: new pods get the new value", field)
	}
	if limit := ptr.Deref(c.live.Spec.RevisionHistoryLimit, 0); limit > modelv1.MaxRevisionHistoryLimit {
		c.add(note, "spec.revisionHistoryLimit of the Deployment changes from %d to %d", limit, modelv1.MaxRevisionHistoryLimit)
	}
	for _, key := range slices.Sorted(maps.Keys(c.live.Spec.Template.Annotations)) {
		if c.template.Annotations[key] != c.live.Spec.Template.Annotations[key] {
			c.add(note, "spec.template.metadata.annotations[%s] is dropped", key)
		}
	}
	return nil
}

// managers are annotations and labels by which tools know what they have made.
var managers = []struct{ key, name string }{
	{"meta.helm.sh/release-name", "Helm"},
	{"argocd.argoproj.io/tracking-id", "Argo CD"},
	{"kustomize.toolkit.fluxcd.io/name", "Flux"},
	{"helm.toolkit.fluxcd.io/name", "Flux"},
	{corev1.LastAppliedConfigAnnotation, "kubectl apply"},
}

// judge says what is in the way of any box that is to take over the Deployment.
func (c *conversion) judge() {
	if controller := metav1.GetControllerOfNoCopy(c.live); controller != nil {
		c.add(refused, "it is controlled by %s %s", controller.Kind, controller.Name)
	}
	if c.live.DeletionTimestamp != nil {
		c.add(refused, "it is being deleted")
	}
	if !c.live.Spec.Paused {
		c.judgeRollout()
	}
	for _, manager := range managers {
		if cmp.Or(c.live.Annotations[manager.key], c.live.Labels[manager.key]) != "" {
			c.add(note, "it is managed by %[1]s: the box reverts later changes by %[1]s", manager.name)
		}
	}
}

func (c *conversion) judgeRollout() {
	if !adopt.IsRolledOut(c.live) {
		c.add(refused, "it is being rolled out: wait until the rollout is complete")
	}
}
