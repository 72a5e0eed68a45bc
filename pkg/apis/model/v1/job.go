// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

const (
	// JobBoxLabel is set on the Jobs of a box and on their pods. Its value is the name of the box. These pods do not have
	// SelectorLabel: they get no traffic.
	JobBoxLabel = "model.github.com/job-of"

	// JobTypeLabel is set on the Jobs of a box and on their pods. Its value is a JobType.
	JobTypeLabel = "model.github.com/job-type"

	// AwaitedJobAnnotation is set on the workload of a box while a new revision waits for the Job of spec.before. Its value is
	// the name of the Job. The workload runs the pods of StableRecordAnnotation.
	AwaitedJobAnnotation = "model.github.com/awaited-job"
)

// The defaults of the Jobs of a box.
const (
	// DefaultBackoffLimit is the default of Kubernetes.
	DefaultBackoffLimit = int32(6)
	// DefaultJobDeadlineSeconds is the default of activeDeadlineSeconds. Kubernetes has none, and a rollout would wait forever.
	DefaultJobDeadlineSeconds = int64(3600)
)

// The limits of the Jobs of a box.
const (
	// MaxBackoffLimit is the maximum of backoffLimit.
	MaxBackoffLimit = int32(100)
	// MaxJobDeadlineSeconds is the maximum of activeDeadlineSeconds, a week.
	MaxJobDeadlineSeconds = int64(7 * 24 * 60 * 60)
)

// ModelBoxJob is a command that runs once for each revision of a box, as a Job. Its pod has the configs, the variables, the volumes and
// the service account of the main container, but no ports, no probes, no storage, no other containers and no labels of the box.
type ModelBoxJob struct {
	// image is the image of the container. Defaults to the image of the box.
	//
	// Example: registry.example.com/migrations:1.4
	// +optional
	Image string `json:"image,omitempty" protobuf:"bytes,1,opt,name=image"`

	// command replaces the entrypoint of the image. At least one of command and args is required.
	//
	// Example: [./migrate, up]
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty" protobuf:"bytes,2,rep,name=command"`

	// args are the arguments of the command. At least one of command and args is required.
	//
	// Example: [migrate, up]
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty" protobuf:"bytes,3,rep,name=args"`

	// envs are variables in addition to the variables of the box. If the box has a variable of the same name, this value takes
	// precedence.
	//
	// Example: [{name: DATABASE_USER, value: admin}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	Envs []corev1.EnvVar `json:"envs,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,4,rep,name=envs"`

	// resources are the CPU and memory that the container needs. Defaults to the resources of the box.
	//
	// Example: {requests: {memory: 256Mi}}
	// +optional
	// +k8s:opaqueType
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,5,opt,name=resources"`

	// backoffLimit is the number of attempts that can follow the first one. Defaults to 6.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty" protobuf:"varint,6,opt,name=backoffLimit"`

	// activeDeadlineSeconds is the number of seconds after which the Job fails, with all of its attempts. Defaults to 3600.
	//
	// Example: 600
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty" protobuf:"varint,7,opt,name=activeDeadlineSeconds"`
}

// JobType is when the Job of a box runs.
// +enum
type JobType string

const (
	// JobBefore is a Job of spec.before.
	JobBefore JobType = "Before"
	// JobAfter is a Job of spec.after.
	JobAfter JobType = "After"
)

// JobPhase is the result of a Job of a box.
// +enum
type JobPhase string

const (
	// JobRunning is a Job that has no result yet.
	JobRunning JobPhase = "Running"
	// JobSucceeded is a Job whose command has succeeded.
	JobSucceeded JobPhase = "Succeeded"
	// JobFailed is a Job whose attempts have all failed, or that has exceeded its deadline.
	JobFailed JobPhase = "Failed"
)

// MaxRolloutJobs is how many Jobs a status lists.
const MaxRolloutJobs = 20

// ModelBoxRolloutJob is a Job that has run, or runs, for a revision.
type ModelBoxRolloutJob struct {
	// name is the name of the Job. Required.
	//
	// Example: web-before-5d8f7c9b61
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// type is "Before" or "After". Required.
	//
	// Example: Before
	Type JobType `json:"type" protobuf:"bytes,2,opt,name=type,casttype=JobType"`

	// podsHash identifies the pods of the revision. Required.
	//
	// Example: 6fd9e0c1b5a94d2f
	PodsHash string `json:"podsHash" protobuf:"bytes,3,opt,name=podsHash"`

	// phase is "Running", "Succeeded" or "Failed". Required.
	//
	// Example: Succeeded
	Phase JobPhase `json:"phase" protobuf:"bytes,4,opt,name=phase,casttype=JobPhase"`
}
