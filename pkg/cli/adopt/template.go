// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// withoutHash returns the template without the label that the Deployment controller adds to the template of a ReplicaSet.
func withoutHash(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	template = template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return template
}

// IsSameTemplate returns whether pods of both templates are the same for the Deployment controller.
func IsSameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return apiequality.Semantic.DeepEqual(withoutHash(a), withoutHash(b))
}

// Change is what becomes of a pod template, as paths of fields such as spec.template.spec.nodeSelector.
type Change struct {
	// Deferred are fields that pods that run can do without: they have them from their next start.
	Deferred []string
	// Disruptive are fields in which pods that run would not be what the template says. Their pods have to be replaced.
	Disruptive []string
}

// CompareTemplates says what it means to pods that run the one template to become pods of the other. Labels and annotations are
// nothing to them: they are set on pods as they run.
func CompareTemplates(from, to *corev1.PodTemplateSpec) (Change, error) {
	from, to = from.DeepCopy(), to.DeepCopy()
	deferred := Defer(&from.Spec, &to.Spec)
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&from.Spec)
	if err != nil {
		return Change{}, fmt.Errorf("encoding a pod template: %w", err)
	}
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&to.Spec)
	if err != nil {
		return Change{}, fmt.Errorf("encoding a pod template: %w", err)
	}
	change := Change{Deferred: deferred}
	if !apiequality.Semantic.DeepEqual(from.Spec, to.Spec) {
		change.Disruptive = differences("spec.template.spec", before, after)
	}
	return change, nil
}

// Defer makes equal what pods that run can do without, and returns its paths: what the server adds for the sake of rollouts
// to come. That is a field which was not set, and a longer time to stop.
func Defer(from, to *corev1.PodSpec) []string {
	const path = "spec.template.spec"
	var deferred []string
	if isLonger(to, from) {
		from.TerminationGracePeriodSeconds = to.TerminationGracePeriodSeconds
		deferred = append(deferred, path+".terminationGracePeriodSeconds")
	}
	for i := range to.Containers {
		container := &to.Containers[i]
		j := slices.IndexFunc(from.Containers, func(c corev1.Container) bool { return c.Name == container.Name })
		if j < 0 {
			continue
		}
		live := &from.Containers[j]
		at := fmt.Sprintf("%s.containers[%s]", path, container.Name)
		for _, probe := range []struct {
			field    string
			from, to **corev1.Probe
		}{
			{"readinessProbe", &live.ReadinessProbe, &container.ReadinessProbe},
			{"livenessProbe", &live.LivenessProbe, &container.LivenessProbe},
			{"startupProbe", &live.StartupProbe, &container.StartupProbe},
		} {
			if *probe.from == nil && *probe.to != nil {
				*probe.from = *probe.to
				deferred = append(deferred, at+"."+probe.field)
			}
		}
		if deferPorts(live, container) {
			deferred = append(deferred, at+".ports")
		}
		if live.Lifecycle == nil && container.Lifecycle != nil && container.Lifecycle.PostStart == nil {
			live.Lifecycle = container.Lifecycle
			deferred = append(deferred, at+".lifecycle")
		}
	}
	return deferred
}

// deferPorts is about declared ports. A port that is not declared can be reached as well, only references use the name of a port,
// and the order of ports has no meaning. Host ports are excluded.
func deferPorts(from, to *corev1.Container) bool {
	isDeferred := false
	left := slices.Clone(from.Ports)
	var ports []corev1.ContainerPort
	for _, port := range to.Ports {
		i := slices.IndexFunc(left, func(p corev1.ContainerPort) bool {
			return p.ContainerPort == port.ContainerPort && p.Protocol == port.Protocol
		})
		switch {
		case i >= 0:
			was := left[i]
			left = slices.Delete(left, i, i+1)
			if was.Name == "" && port.Name != "" {
				was.Name, isDeferred = port.Name, true
			}
			ports = append(ports, was)
		case port.HostPort == 0:
			isDeferred = true
			ports = append(ports, port)
		}
	}
	from.Ports = append(ports, left...)
	return isDeferred
}

func isLonger(a, b *corev1.PodSpec) bool {
	seconds := func(spec *corev1.PodSpec) int64 {
		if spec.TerminationGracePeriodSeconds == nil {
			return corev1.DefaultTerminationGracePeriodSeconds
		}
		return *spec.TerminationGracePeriodSeconds
	}
	return seconds(a) > seconds(b)
}

// differences returns the paths at which two values differ, as deep as both have maps, or lists of the same length.
func differences(path string, a, b any) []string {
	if apiequality.Semantic.DeepEqual(a, b) {
		return nil
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			break
		}
		var found []string
		for _, key := range slices.Sorted(maps.Keys(union(a, b))) {
			found = append(found, differences(path+"."+key, a[key], b[key])...)
		}
		return found
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		var found []string
		for i := range a {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])...)
		}
		return found
	}
	return []string{path}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// WithDefaults returns a Deployment as the API would store it, which is asked for that without storing it.
func WithDefaults(ctx context.Context, client kubernetes.Interface, fieldManager string, deployment *appsv1.Deployment) (*appsv1.Deployment, error) {
	wanted := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "modelbox-", Labels: deployment.Labels},
		Spec:       *deployment.Spec.DeepCopy(),
	}
	created, err := client.AppsV1().Deployments(deployment.Namespace).Create(ctx, wanted, metav1.CreateOptions{
		FieldManager: fieldManager,
		DryRun:       []string{metav1.DryRunAll},
	})
	if err != nil {
		return nil, fmt.Errorf("getting the defaults of Deployment %s: %w", deployment.Name, err)
	}
	return created, nil
}
