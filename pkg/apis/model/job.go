// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import corev1 "k8s.io/api/core/v1"

// ModelBoxJob is a command that runs once for each revision of a box, as a Job.
type ModelBoxJob struct {
	Image                 string
	Command               []string
	Args                  []string
	Envs                  []corev1.EnvVar
	Resources             *corev1.ResourceRequirements
	BackoffLimit          *int32
	ActiveDeadlineSeconds *int64
}

// JobType is when the Job of a box runs.
type JobType string

// JobPhase is the result of a Job of a box.
type JobPhase string

// ModelBoxRolloutJob is a Job that has run, or runs, for a revision.
type ModelBoxRolloutJob struct {
	Name     string
	Type     JobType
	PodsHash string
	Phase    JobPhase
}
