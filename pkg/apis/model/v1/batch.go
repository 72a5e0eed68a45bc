// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

// ModelBoxJobSpec is how a Job runs the pods of a box: the Job of workload "Job", or each Job of workload "CronJob". A field that is not
// set has the default of Kubernetes.
type ModelBoxJobSpec struct {
	// completions is the number of pods that have to succeed. Without completions, the Job has succeeded when a pod has succeeded and no
	// other pod runs. Defaults to 1 unless parallelism is set.
	//
	// Example: 5
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	Completions *int32 `json:"completions,omitempty" protobuf:"varint,1,opt,name=completions"`

	// parallelism is the number of pods that run at the same time. Defaults to 1.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	Parallelism *int32 `json:"parallelism,omitempty" protobuf:"varint,2,opt,name=parallelism"`

	// completionMode is how the Job counts its pods: "NonIndexed" counts all that have succeeded, "Indexed" gives each completion an
	// index from 0, in the variable JOB_COMPLETION_INDEX of its pod. Defaults to "NonIndexed".
	//
	// Example: Indexed
	// +optional
	// +k8s:optional
	CompletionMode *JobCompletionMode `json:"completionMode,omitempty" protobuf:"bytes,3,opt,name=completionMode,casttype=JobCompletionMode"`

	// backoffLimit is the number of pods that may fail before the Job has failed. A pod that is evicted when a node is drained does not
	// count. Defaults to 6.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty" protobuf:"varint,4,opt,name=backoffLimit"`

	// activeDeadlineSeconds is the number of seconds after which the Job has failed, with all of its pods. Defaults to none.
	//
	// Example: 3600
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty" protobuf:"varint,5,opt,name=activeDeadlineSeconds"`
}

// JobCompletionMode is how a Job counts the pods that have succeeded.
// +enum
// +k8s:enum
type JobCompletionMode string

const (
	// JobNonIndexed counts all pods that have succeeded.
	JobNonIndexed JobCompletionMode = "NonIndexed"
	// JobIndexed counts one pod for each index from 0 to completions - 1.
	JobIndexed JobCompletionMode = "Indexed"
)

// ModelBoxCronJobSpec is when workload "CronJob" runs the box. A field that is not set has the default of Kubernetes.
type ModelBoxCronJobSpec struct {
	// schedule is the time of the runs in the format of cron: minute, hour, day of the month, month, day of the week. Required.
	//
	// Example: "30 2 * * *"
	// +k8s:required
	Schedule string `json:"schedule" protobuf:"bytes,1,opt,name=schedule"`

	// timeZone is the name of the time zone of the schedule. Defaults to the time zone of the controller manager of the cluster.
	//
	// Example: Europe/Berlin
	// +optional
	TimeZone *string `json:"timeZone,omitempty" protobuf:"bytes,2,opt,name=timeZone"`

	// concurrencyPolicy is what happens when a run is due while another one is active: "Allow" runs both, "Forbid" skips the new run,
	// "Replace" stops the active run. Defaults to "Allow".
	//
	// Example: Forbid
	// +optional
	// +k8s:optional
	ConcurrencyPolicy *ConcurrencyPolicy `json:"concurrencyPolicy,omitempty" protobuf:"bytes,3,opt,name=concurrencyPolicy,casttype=ConcurrencyPolicy"`

	// suspend stops all runs that are not active yet. Defaults to false.
	//
	// Example: true
	// +optional
	Suspend *bool `json:"suspend,omitempty" protobuf:"varint,4,opt,name=suspend"`

	// startingDeadlineSeconds is the number of seconds that a run may be late. A run that is later is skipped. Defaults to no limit.
	//
	// Example: 300
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty" protobuf:"varint,5,opt,name=startingDeadlineSeconds"`

	// successfulJobsHistoryLimit is the number of Jobs that have succeeded to keep, with their pods and logs. Defaults to 3.
	//
	// Example: 1
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty" protobuf:"varint,6,opt,name=successfulJobsHistoryLimit"`

	// failedJobsHistoryLimit is the number of Jobs that have failed to keep, with their pods and logs. With 0, the status of the box
	// does not say why a run has failed. Defaults to 1.
	//
	// Example: 3
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty" protobuf:"varint,7,opt,name=failedJobsHistoryLimit"`
}

// ConcurrencyPolicy is what a CronJob does when a run is due while another one is active.
// +enum
// +k8s:enum
type ConcurrencyPolicy string

const (
	// AllowConcurrent runs both.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ForbidConcurrent skips the new run.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// ReplaceConcurrent stops the active run.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// ModelBoxJobStatus is the result of the Job of workload "Job". A Job that has a result does not run again if another client deletes it.
type ModelBoxJobStatus struct {
	// templateHash identifies the pod template and the completions of the Job. Required.
	//
	// Example: 4a6e5111d7162ae7
	TemplateHash string `json:"templateHash" protobuf:"bytes,1,opt,name=templateHash"`

	// phase is "Succeeded" or "Failed". Required.
	//
	// Example: Succeeded
	Phase JobPhase `json:"phase" protobuf:"bytes,2,opt,name=phase,casttype=JobPhase"`

	// message says why the Job has failed. It is empty if the Job has succeeded.
	//
	// Example: "Job report has failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,3,opt,name=message"`
}

// JobTemplateHashAnnotation is set on the pods of workload "Job". Its value identifies the fields that a Job cannot change. A Job with
// another value is deleted and created again.
const JobTemplateHashAnnotation = "model.github.com/job-template-hash"

// RunsToCompletion returns whether the pods of the workload end: the workload is a Job or a CronJob. It has no rollouts.
func (w Workload) RunsToCompletion() bool { return w == WorkloadJob || w == WorkloadCronJob }

// HasReplicas returns whether the workload has a number of replicas, which an empty workload, the default, has.
func (w Workload) HasReplicas() bool { return w != WorkloadDaemonSet && !w.RunsToCompletion() }

// Workloads returns all kinds of workloads.
func Workloads() []Workload {
	return []Workload{WorkloadDeployment, WorkloadStatefulSet, WorkloadDaemonSet, WorkloadJob, WorkloadCronJob}
}
