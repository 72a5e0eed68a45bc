// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

// ModelBoxJobSpec is how a Job runs the pods of a box.
type ModelBoxJobSpec struct {
	Completions           *int32
	Parallelism           *int32
	CompletionMode        *JobCompletionMode
	BackoffLimit          *int32
	ActiveDeadlineSeconds *int64
}

// ModelBoxJobStatus is the result of the Job of workload "Job".
type ModelBoxJobStatus struct {
	TemplateHash string
	Phase        JobPhase
	Message      string
}

// JobCompletionMode is how a Job counts the pods that have succeeded.
type JobCompletionMode string

const (
	// JobIndexed counts one pod for each index from 0 to completions - 1.
	JobIndexed JobCompletionMode = "Indexed"
)

// ModelBoxCronJobSpec is when workload "CronJob" runs the box.
type ModelBoxCronJobSpec struct {
	Schedule                   string
	TimeZone                   *string
	ConcurrencyPolicy          *ConcurrencyPolicy
	Suspend                    *bool
	StartingDeadlineSeconds    *int64
	SuccessfulJobsHistoryLimit *int32
	FailedJobsHistoryLimit     *int32
}

// ConcurrencyPolicy is what a CronJob does when a run is due while another one is active.
type ConcurrencyPolicy string

// RunsToCompletion returns whether the pods of the workload end: the workload is a Job or a CronJob.
func (w Workload) RunsToCompletion() bool { return w == WorkloadJob || w == WorkloadCronJob }

// HasReplicas returns whether the workload has a number of replicas.
func (w Workload) HasReplicas() bool { return w != WorkloadDaemonSet && !w.RunsToCompletion() }
