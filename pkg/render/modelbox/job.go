// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	applybatchv1 "k8s.io/client-go/applyconfigurations/batch/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// job renders the Job of workload Job. Its pods have the hash of all fields that a Job cannot change: a Job with another hash has to be
// deleted and created again.
func job(box *modelv1.ModelBox, template *applycorev1.PodTemplateSpecApplyConfiguration) (*applybatchv1.JobApplyConfiguration, error) {
	spec := podsJob(box, template)
	hash, err := jobTemplateHash(spec)
	if err != nil {
		return nil, err
	}
	template.WithAnnotations(map[string]string{modelv1.JobTemplateHashAnnotation: hash})
	return applybatchv1.Job(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec), nil
}

// jobTemplateHash returns a hash of the fields of a Job that cannot change.
func jobTemplateHash(spec *applybatchv1.JobSpecApplyConfiguration) (string, error) {
	data, err := json.Marshal([]any{spec.Template, spec.Completions, spec.CompletionMode, spec.PodFailurePolicy})
	if err != nil {
		return "", fmt.Errorf("encoding the pod template: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// JobTemplateHash returns modelv1.JobTemplateHashAnnotation of the Job of the box, whose workload is a Job. A change from a box to another
// with the same hash does not run the Job again.
func JobTemplateHash(box *modelv1.ModelBox) (string, error) {
	template, err := podTemplate(box)
	if err != nil {
		return "", err
	}
	return jobTemplateHash(podsJob(box, template))
}

// FinishedJob returns the result of a rendered child of the box if it is a Job that has finished, nil otherwise. Such a Job must not be
// created again if it no longer exists.
func FinishedJob(box *modelv1.ModelBox, rendered *unstructured.Unstructured) *modelv1.ModelBoxJobStatus {
	finished := box.Status.Job
	if finished == nil || finished.TemplateHash == "" || finished.TemplateHash != renderedTemplateHash(rendered) {
		return nil
	}
	return finished
}

// renderedTemplateHash returns modelv1.JobTemplateHashAnnotation of a rendered Job, "" for any other child.
func renderedTemplateHash(rendered *unstructured.Unstructured) string {
	hash, _, _ := unstructured.NestedString(rendered.Object, "spec", "template", "metadata", "annotations", modelv1.JobTemplateHashAnnotation)
	return hash
}

// cronJob renders the CronJob of workload CronJob.
func cronJob(box *modelv1.ModelBox, template *applycorev1.PodTemplateSpecApplyConfiguration) *applybatchv1.CronJobApplyConfiguration {
	wanted := box.Spec.CronJob
	spec := applybatchv1.CronJobSpec().
		WithSchedule(wanted.Schedule).
		WithJobTemplate(applybatchv1.JobTemplateSpec().
			WithLabels(labels(box)).
			WithAnnotations(box.Spec.Annotations).
			WithSpec(podsJob(box, template)))
	if policy := wanted.ConcurrencyPolicy; policy != nil {
		spec.WithConcurrencyPolicy(batchv1.ConcurrencyPolicy(*policy))
	}
	spec.TimeZone, spec.Suspend, spec.StartingDeadlineSeconds = wanted.TimeZone, wanted.Suspend, wanted.StartingDeadlineSeconds
	spec.SuccessfulJobsHistoryLimit, spec.FailedJobsHistoryLimit = wanted.SuccessfulJobsHistoryLimit, wanted.FailedJobsHistoryLimit
	return applybatchv1.CronJob(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}

// podsJob renders the spec of a Job that runs pods of the template. It leaves fields unset that the box does not set, so that the
// defaults of Kubernetes apply. A pod that a node drain evicts is no attempt that has failed, unless the kubelet restarts its containers:
// Kubernetes does not tell such pods apart.
func podsJob(box *modelv1.ModelBox, template *applycorev1.PodTemplateSpecApplyConfiguration) *applybatchv1.JobSpecApplyConfiguration {
	spec := applybatchv1.JobSpec().WithTemplate(template)
	if *template.Spec.RestartPolicy == corev1.RestartPolicyNever {
		spec.WithPodFailurePolicy(applybatchv1.PodFailurePolicy().WithRules(applybatchv1.PodFailurePolicyRule().
			WithAction(batchv1.PodFailurePolicyActionIgnore).
			WithOnPodConditions(applybatchv1.PodFailurePolicyOnPodConditionsPattern().WithType(corev1.DisruptionTarget).WithStatus(corev1.ConditionTrue))))
	}
	wanted := box.Spec.Job
	if wanted == nil {
		return spec
	}
	if mode := wanted.CompletionMode; mode != nil {
		spec.WithCompletionMode(batchv1.CompletionMode(*mode))
	}
	spec.Completions, spec.Parallelism = wanted.Completions, wanted.Parallelism
	spec.BackoffLimit, spec.ActiveDeadlineSeconds = wanted.BackoffLimit, wanted.ActiveDeadlineSeconds
	return spec
}

// runToCompletion lets the pods of a Job end. If a container fails without a termination message, its last log lines are the message.
func runToCompletion(pod *applycorev1.PodSpecApplyConfiguration) {
	pod.WithRestartPolicy(corev1.RestartPolicyNever)
	for i := range pod.Containers {
		if container := &pod.Containers[i]; container.TerminationMessagePolicy == nil {
			container.WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError)
		}
	}
}

// RestartedJob returns the Job that runs at once because the box, whose workload is the CronJob, was restarted. Each restart has a Job of
// its own name. The Job belongs to the CronJob, as a Job of "kubectl create job --from".
func RestartedJob(box *modelv1.ModelBox, owner *batchv1.CronJob) (*batchv1.Job, error) {
	template, err := podTemplate(box)
	if err != nil {
		return nil, err
	}
	job := &batchv1.Job{}
	if err := render.Convert(cronJob(box, template).Spec.JobTemplate, job); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(string(owner.UID) + "/" + template.Annotations[modelv1.RestartedAtAnnotation]))
	job.Name, job.Namespace = owner.Name+"-"+hex.EncodeToString(sum[:jobHashBytes]), owner.Namespace
	job.Annotations = maps.Clone(job.Annotations)
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[instantiateAnnotation] = "manual"
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return job, nil
}

// instantiateAnnotation is set by kubectl on a Job that a user creates from a CronJob.
const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"
