// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// jobHashBytes is how much of its hash the name of a Job has.
const jobHashBytes = 5

// jobSpec returns the field of the box with the Job of the type, nil if the box has none.
func jobSpec(box *modelv1.ModelBox, jobType modelv1.JobType) *modelv1.ModelBoxJob {
	if jobType == modelv1.JobBefore {
		return box.Spec.Before
	}
	return box.Spec.After
}

// JobName returns the name of the Job of the type for the pods of the box. podsHash is PodsHash of the box. Another command has another
// name. The name is empty if the box has no Job of the type.
func JobName(box *modelv1.ModelBox, jobType modelv1.JobType, podsHash string) (string, error) {
	if jobSpec(box, jobType) == nil {
		return "", nil
	}
	data, err := json.Marshal([]any{box.UID, podsHash, jobSpec(box, jobType)})
	if err != nil {
		return "", fmt.Errorf("encoding the Job: %w", err)
	}
	sum := sha256.Sum256(data)
	return helper.JobName(box.Name, jobType, hex.EncodeToString(sum[:jobHashBytes])), nil
}

// Job returns the Job of the type for the pods of the box, which must be defaulted and valid, and have one. podsHash is PodsHash of the
// box. The pod of the Job is the pod of the box without the labels that select the pods of the box, and with the main container only. A
// pod that a node drain evicts is no attempt that has failed.
func Job(box *modelv1.ModelBox, jobType modelv1.JobType, podsHash string) (*batchv1.Job, error) {
	name, err := JobName(box, jobType, podsHash)
	if err != nil {
		return nil, err
	}
	template, err := jobTemplate(box, jobType)
	if err != nil {
		return nil, err
	}
	spec := jobSpec(box, jobType)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   box.Namespace,
			Labels:      labels(box),
			Annotations: maps.Clone(box.Spec.Annotations),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(box, Kind),
			},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:          spec.BackoffLimit,
			ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				},
			}}},
			Template: *template,
		},
	}
	maps.Copy(job.Labels, jobLabels(box, jobType))
	return job, nil
}

// jobLabels are the labels of a Job of the box and of its pods.
func jobLabels(box *modelv1.ModelBox, jobType modelv1.JobType) map[string]string {
	return map[string]string{
		modelv1.JobBoxLabel:   box.Name,
		modelv1.JobTypeLabel:  string(jobType),
		render.ManagedByLabel: render.ManagedBy,
	}
}

func jobTemplate(box *modelv1.ModelBox, jobType modelv1.JobType) (*corev1.PodTemplateSpec, error) {
	template, err := PodTemplate(jobBox(box, jobType))
	if err != nil {
		return nil, err
	}
	template.Labels = jobLabels(box, jobType)
	pod := &template.Spec
	pod.Containers = slices.DeleteFunc(pod.Containers, func(container corev1.Container) bool { return container.Name != box.Spec.Name })
	pod.InitContainers, pod.ReadinessGates, pod.RestartPolicy = nil, nil, corev1.RestartPolicyNever
	for i := range pod.Containers {
		setJobCommand(&pod.Containers[i], jobSpec(box, jobType))
	}
	return template, nil
}

// jobBox returns the box that the pod of a Job is rendered from. The files of a Job that runs before the new pods have ConfigMaps of
// their own, because the pods of the box still have the former files.
func jobBox(box *modelv1.ModelBox, jobType modelv1.JobType) *modelv1.ModelBox {
	rendered := *box
	rendered.Spec.Ports, rendered.Spec.Storage = nil, nil
	rendered.Spec.Containers, rendered.Spec.InitContainers = nil, nil
	if jobType == modelv1.JobBefore {
		rendered.Spec.Configs = versionedConfigs(box)
	}
	return &rendered
}

// versionedConfigs returns the configs of the box with files whose changes replace the pods in ConfigMaps that are named after their
// content. ConfigMaps of former pods have the same names otherwise.
func versionedConfigs(box *modelv1.ModelBox) []modelv1.ModelBoxConfig {
	configs := slices.Clone(box.Spec.Configs)
	for i := range configs {
		if config := &configs[i]; config.Rollout == modelv1.ConfigRolloutRestart {
			config.Rollout = modelv1.ConfigRolloutVersioned
		}
	}
	return configs
}

// setJobCommand lets the container run the command of the Job. If it fails without a termination message, its last log lines are the
// message.
func setJobCommand(container *corev1.Container, spec *modelv1.ModelBoxJob) {
	container.Image = cmp.Or(spec.Image, container.Image)
	container.Command, container.Args = spec.Command, spec.Args
	container.Env = slices.DeleteFunc(slices.Clone(container.Env), func(variable corev1.EnvVar) bool {
		return slices.ContainsFunc(spec.Envs, func(other corev1.EnvVar) bool { return other.Name == variable.Name })
	})
	container.Env = append(container.Env, spec.Envs...)
	if spec.Resources != nil {
		container.Resources = *spec.Resources
	}
	container.Ports, container.Lifecycle = nil, nil
	container.ReadinessProbe, container.LivenessProbe, container.StartupProbe = nil, nil, nil
	container.RestartPolicy, container.RestartPolicyRules = nil, nil
	if container.TerminationMessagePolicy == "" {
		container.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
}

// jobConfigMaps renders the ConfigMaps of the Job before the pods of the box that the box with its present pods does not have.
func jobConfigMaps(box, present *modelv1.ModelBox) []runtime.ApplyConfiguration {
	return unsharedConfigMaps(jobBox(box, modelv1.JobBefore), present)
}

// unsharedConfigMaps renders the ConfigMaps of a box that another state of the box does not have.
func unsharedConfigMaps(box, other *modelv1.ModelBox) []runtime.ApplyConfiguration {
	var configurations []runtime.ApplyConfiguration
	for i := range box.Spec.Configs {
		config := &box.Spec.Configs[i]
		isShared := slices.ContainsFunc(other.Spec.Configs, func(other modelv1.ModelBoxConfig) bool {
			return ConfigMapName(box, &other) == ConfigMapName(box, config)
		})
		if !isShared {
			configurations = append(configurations, configMap(box, config))
		}
	}
	return configurations
}

// PendingJobs returns the Jobs of spec.before and spec.after that have to run for the pods of the box and have not succeeded yet, as the
// controller creates them. It may have created them already. live has the workload of the box.
func PendingJobs(box *modelv1.ModelBox, live Live) ([]*unstructured.Unstructured, error) {
	if box.Spec.Before == nil && box.Spec.After == nil {
		return nil, nil
	}
	hash, err := PodsHash(box)
	if err != nil {
		return nil, err
	}
	rollout := box.Status.Rollout
	if rollout != nil && rollout.PodsHash == hash && rollout.Phase == modelv1.RolloutRolledBack {
		return nil, nil
	}
	var pending []modelv1.JobType
	if AwaitsBefore(box, hash, live) {
		pending = append(pending, modelv1.JobBefore)
	}
	if NeedsJob(box, modelv1.JobAfter, rollout, hash) {
		pending = append(pending, modelv1.JobAfter)
	}
	var jobs []*unstructured.Unstructured
	for _, jobType := range pending {
		job, err := Job(box, jobType, hash)
		if err != nil {
			return nil, fmt.Errorf("rendering the Job of type %s: %w", jobType, err)
		}
		created, err := asCreated(job)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, created)
	}
	return jobs, nil
}

// asCreated returns the Job in the form of a manifest.
func asCreated(job *batchv1.Job) (*unstructured.Unstructured, error) {
	object, err := render.Fields(job)
	if err != nil {
		return nil, err
	}
	delete(object, "status")
	created := &unstructured.Unstructured{Object: object}
	created.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	return created, nil
}

// NeedsJob returns whether the box has a Job of the type that has to run for the pods with the hash, as far as the status of its rollout
// tells, which may be nil. It has run for stable pods.
func NeedsJob(box *modelv1.ModelBox, jobType modelv1.JobType, rollout *modelv1.ModelBoxRolloutStatus, podsHash string) bool {
	switch {
	case jobSpec(box, jobType) == nil:
		return false
	case rollout == nil:
		return true
	case rollout.Stable != nil && rollout.Stable.PodsHash == podsHash:
		return false
	default:
		return !slices.ContainsFunc(rollout.Jobs, func(job modelv1.ModelBoxRolloutJob) bool {
			return job.Type == jobType && job.PodsHash == podsHash && job.Phase == modelv1.JobSucceeded
		})
	}
}

// AwaitsBefore returns whether the pods of the box wait for the Job of spec.before. They do not if they have started, such as before the
// box had the field. podsHash is PodsHash of the box.
func AwaitsBefore(box *modelv1.ModelBox, podsHash string, live Live) bool {
	return NeedsJob(box, modelv1.JobBefore, box.Status.Rollout, podsHash) && !hasPods(box, live)
}

// HoldsPods returns whether the workload of the box must stay as it is, because the Job of spec.before has not succeeded and the box
// cannot be rendered with its present pods.
func HoldsPods(box *modelv1.ModelBox, live Live) (bool, error) {
	plan, err := planRollout(box, live)
	return plan.awaitsBefore && !plan.hasStablePods, err
}

// hasPods returns whether the live workload is what the box asks for, so that its pods have started.
func hasPods(box *modelv1.ModelBox, live Live) bool {
	if live.Workload == nil || !metav1.IsControlledBy(live.Workload, box) {
		return false
	}
	workload, err := workload(box, ScalingBeside(box, live))
	if err != nil {
		return false
	}
	rendered, err := render.WithHash(workload)
	return err == nil && render.Hash(rendered) == render.Hash(live.Workload)
}
