// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// jobNode is a Job in the words of "kubectl get jobs", with the pods that have succeeded in place of the ready pods.
func jobNode(job *batchv1.Job, children owned) *node {
	n := replicasNode("Job/", job, job.Status.Succeeded, ptr.Deref(job.Spec.Completions, 1))
	n.nodes = children.under(job)
	if n.status != "" {
		return n
	}
	n.status = "Running"
	if ptr.Deref(job.Spec.Suspend, false) {
		n.status = "Suspended"
	}
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			n.status = string(condition.Type)
		case batchv1.JobFailed:
			n.status, n.message, n.health = string(condition.Type), cliutil.OneLine(condition.Message), failing
		}
	}
	return n
}

// cronJobNode is a CronJob with its active Jobs, and the Jobs of its history.
func cronJobNode(cronJob *batchv1.CronJob, children owned) *node {
	n := &node{name: "CronJob/" + cronJob.Name, object: cronJob, status: fmt.Sprintf("%d active", len(cronJob.Status.Active)), health: healthy}
	n.nodes = children.under(cronJob)
	switch {
	case cronJob.DeletionTimestamp != nil:
		n.status, n.health = "Terminating", underway
	case ptr.Deref(cronJob.Spec.Suspend, false):
		n.status = "Suspended"
	}
	return n
}
