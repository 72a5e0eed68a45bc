// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
)

var daemonSets = appsv1.SchemeGroupVersion.WithResource("daemonsets")

// countTemplates counts changes of the pod template of a DaemonSet, as an API server does.
func countTemplates(before, after runtime.Object) {
	set, isDaemonSet := after.(*appsv1.DaemonSet)
	if !isDaemonSet {
		return
	}
	generation := 0
	if before, existed := before.(*appsv1.DaemonSet); existed {
		generation, _ = strconv.Atoi(before.Annotations[appsv1.DeprecatedTemplateGeneration])
		if apiequality.Semantic.DeepEqual(before.Spec.Template, set.Spec.Template) {
			generation--
		}
	}
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.Itoa(generation+1))
}

// updateDaemonSet creates a pod on each node, and replaces pods of other revisions if the update strategy says so.
func (s *simulation) updateDaemonSet(t *testing.T, set *appsv1.DaemonSet) {
	t.Helper()
	byNode := map[string]*corev1.Pod{}
	for _, pod := range s.podsOf(t, set) {
		byNode[pod.Spec.NodeName] = pod
	}
	unavailable := 0
	for i := range s.nodes {
		node := fmt.Sprintf("node-%d", i)
		pod := byNode[node]
		if delete(byNode, node); pod == nil || !kinds.IsReady(pod) {
			unavailable++
		}
		if pod == nil {
			s.createDaemonPod(t, set, node)
		}
	}
	for _, pod := range byNode { // on nodes that are gone
		s.delete(t, pods, pod)
	}
	if set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	limit := intstr.FromInt32(1)
	if rollingUpdate := set.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil && rollingUpdate.MaxUnavailable != nil {
		limit = *rollingUpdate.MaxUnavailable
	}
	maxUnavailable, err := intstr.GetScaledValueFromIntOrPercent(&limit, s.nodes, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range s.podsOf(t, set) {
		switch {
		case isUpdatedDaemonPod(t, set, pod):
		case !kinds.IsReady(pod):
			s.delete(t, pods, pod)
		case unavailable < maxUnavailable:
			unavailable++
			s.delete(t, pods, pod)
		}
	}
}

func (s *simulation) createDaemonPod(t *testing.T, set *appsv1.DaemonSet, node string) {
	t.Helper()
	name := fmt.Sprintf("%s-%05d", set.Name, s.lastUID)
	pod := s.newPod(name, appsv1.DefaultDaemonSetUniqueLabelKey, templateHash(t, &set.Spec.Template), ownedBy("DaemonSet", set), &set.Spec.Template)
	pod.Labels[rollouts.TemplateGenerationLabel] = set.Annotations[appsv1.DeprecatedTemplateGeneration]
	pod.Spec.NodeName = node
	s.create(t, pods, pod)
}

func isUpdatedDaemonPod(t *testing.T, set *appsv1.DaemonSet, pod *corev1.Pod) bool {
	t.Helper()
	return pod.Labels[rollouts.TemplateGenerationLabel] == set.Annotations[appsv1.DeprecatedTemplateGeneration] ||
		pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == templateHash(t, &set.Spec.Template)
}

// reportDaemonSet writes the status of a DaemonSet.
func (s *simulation) reportDaemonSet(t *testing.T, set *appsv1.DaemonSet) {
	t.Helper()
	status := appsv1.DaemonSetStatus{ObservedGeneration: set.Generation, DesiredNumberScheduled: int32(s.nodes)}
	for _, pod := range s.podsOf(t, set) {
		status.CurrentNumberScheduled++
		if kinds.IsReady(pod) {
			status.NumberReady++
			status.NumberAvailable++
		}
		if isUpdatedDaemonPod(t, set, pod) {
			status.UpdatedNumberScheduled++
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	set.Status = status
	s.recordRevision(t, set)
	s.update(t, daemonSets, set)
}

var controllerRevisions = appsv1.SchemeGroupVersion.WithResource("controllerrevisions")

// recordRevision makes the revision of the template of a DaemonSet its newest revision.
func (s *simulation) recordRevision(t *testing.T, set *appsv1.DaemonSet) {
	t.Helper()
	hash, last := templateHash(t, &set.Spec.Template), int64(0)
	var current *appsv1.ControllerRevision
	for _, revision := range simulated[appsv1.ControllerRevision](t, s, controllerRevisions, "ControllerRevision") {
		last = max(last, revision.Revision)
		if revision.Name == set.Name+"-"+hash {
			current = revision
		}
	}
	switch {
	case current == nil:
		revision := &appsv1.ControllerRevision{Revision: last + 1}
		revision.Name, revision.OwnerReferences = set.Name+"-"+hash, []metav1.OwnerReference{ownedBy("DaemonSet", set)}
		revision.Labels = labels.Merge(set.Spec.Template.Labels, labels.Set{appsv1.DefaultDaemonSetUniqueLabelKey: hash})
		s.create(t, controllerRevisions, revision)
	case current.Revision < last:
		current.Revision = last + 1
		s.update(t, controllerRevisions, current)
	}
}
