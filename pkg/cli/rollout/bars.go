// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/podutils"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The roles of revisions in a rollout.
const (
	// roleNew is the revision that is rolled out.
	roleNew = "new"
	// roleOld is a revision before it.
	roleOld = "old"
	// roleStable is the revision whose rollout was complete last, which a rollback gives back.
	roleStable = "stable"
	// roleFailed is a revision whose rollout has failed, and which is not the newest.
	roleFailed = "failed"
)

// boxView is a box, and what the user may see of its rollout beside it.
type boxView struct {
	box *modelv1.ModelBox
	// pods are the pods of the box, nil if they are not known.
	pods []*corev1.Pod
	// revisions are the revisions of the history of the box, the newest last. They are empty if they are not known.
	revisions []modelv1.ModelBoxRevision
}

// bar is the pods of one revision.
type bar struct {
	role string
	// number is 0, and name and images are empty, where the revision is not known.
	number       int64
	name, images string
	// available of the pods serve.
	available, pods int32
}

// bars returns the revisions that have pods, the stable one, and the one that is rolled out, in the order of their numbers.
func (v *boxView) bars(now time.Time) []bar {
	if v.pods == nil {
		return v.countedBars()
	}
	stable := ""
	if rollout := v.box.Status.Rollout; rollout != nil && rollout.Stable != nil {
		stable = rollout.Stable.Name
	}
	found := map[string]*bar{}
	for i := range v.revisions {
		r := &v.revisions[i]
		if r.Name == stable || i == len(v.revisions)-1 {
			found[r.Name] = &bar{number: r.Revision, name: r.Name, images: strings.Join(r.Images, ",")}
		}
	}
	for _, pod := range v.pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		b := v.revisionOf(pod)
		if found[b.name] == nil {
			found[b.name] = &b
		}
		found[b.name].pods++
		if podutils.IsPodAvailable(pod, ptr.Deref(v.box.Spec.MinReadySeconds, modelv1.DefaultMinReadySeconds), metav1.NewTime(now)) {
			found[b.name].available++
		}
	}
	var all []bar
	for _, b := range found {
		b.role = v.roleOf(b.name, stable)
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b bar) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name)) })
	return all
}

// countedBars are the bars of a box whose pods the user may not list. Pods that are available are taken for old ones first: a rollout
// replaces a pod when the new one is available.
func (v *boxView) countedBars() []bar {
	status := &v.box.Status
	updated := status.UpdatedReplicas
	old := max(0, status.Replicas-updated)
	oldAvailable := min(old, status.AvailableReplicas)
	return []bar{
		{role: roleOld, available: oldAvailable, pods: old},
		{role: roleNew, available: min(updated, status.AvailableReplicas-oldAvailable), pods: updated},
	}
}

// revisionOf returns the revision of a pod, as its labels and the history say.
func (v *boxView) revisionOf(pod *corev1.Pod) bar {
	hash := hashOf(pod)
	if pod.Labels[modelv1.CandidateLabel] != "" {
		return bar{name: helper.CandidateName(v.box.Name) + "-" + hash, images: pod.Spec.Containers[0].Image}
	}
	for i := range v.revisions {
		// A StatefulSet labels its pods with the whole name.
		if r := &v.revisions[i]; r.Name == hash || strings.HasSuffix(r.Name, "-"+hash) {
			return bar{number: r.Revision, name: r.Name, images: strings.Join(r.Images, ",")}
		}
	}
	if !strings.HasPrefix(hash, v.box.Name+"-") {
		hash = v.box.Name + "-" + hash
	}
	return bar{name: hash}
}

// hashOf returns the label that pods of one revision share.
func hashOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], pod.Labels[appsv1.ControllerRevisionHashLabelKey])
}

func (v *boxView) roleOf(name, stable string) string {
	hasFailed := func(failed modelv1.ModelBoxFailedRevision) bool { return failed.Name == name }
	switch {
	case name == stable:
		return roleStable
	case len(v.revisions) > 0 && name == v.revisions[len(v.revisions)-1].Name:
		return roleNew
	case v.box.Status.Rollout != nil && slices.ContainsFunc(v.box.Status.Rollout.FailedRevisions, hasFailed):
		return roleFailed
	case strings.HasPrefix(name, helper.CandidateName(v.box.Name)+"-"):
		return roleNew
	case len(v.revisions) == 0 && stable != "":
		return roleNew // Its history is not known, and a rollout that begins is of another revision than the stable one.
	}
	return roleOld
}

// deadline returns when the rollout will have made no progress for too long, as far as the box and its pods tell. It is zero for a
// rollout that is not in progress, and for one in steps or one that waits for a Job, which may take longer.
func (v *boxView) deadline() time.Time {
	progressing := currentCondition(v.box, modelv1.ConditionProgressing)
	waits := v.box.Status.Rollout != nil && (v.box.Status.Rollout.Step != nil || hasRunningJob(v.box.Status.Rollout))
	if progressing == nil || progressing.Status != metav1.ConditionTrue || v.box.Spec.Paused || waits {
		return time.Time{}
	}
	last := progressing.LastTransitionTime.Time
	later := func(t metav1.Time) {
		if t.After(last) {
			last = t.Time
		}
	}
	if v.box.Status.Rollout != nil {
		later(v.box.Status.Rollout.StartedAt)
	}
	for _, pod := range v.pods {
		later(pod.CreationTimestamp)
		for i := range pod.Status.Conditions {
			if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				later(condition.LastTransitionTime)
			}
		}
	}
	return last.Add(helper.ProgressDeadline(v.box))
}

// hasRunningJob returns whether the rollout waits for a Job, which has its own deadline.
func hasRunningJob(rollout *modelv1.ModelBoxRolloutStatus) bool {
	return slices.ContainsFunc(rollout.Jobs, func(job modelv1.ModelBoxRolloutJob) bool { return job.Phase == modelv1.JobRunning })
}
