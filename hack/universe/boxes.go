// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The names of the storage of boxes, with "retain: true" and "retain: false".
const (
	retainedStorage = "kept"
	deletedStorage  = "scratch"
)

// goodImage returns an image that runs.
func goodImage(random *rand.Rand) string { return fmt.Sprintf("good:%d", 1+random.IntN(4)) }

// newImage returns an image that runs, for the most part.
func newImage(random *rand.Rand) string {
	version := 1 + random.IntN(4)
	switch random.IntN(10) {
	case 0:
		return fmt.Sprintf("%s:%d", cluster.MissingImage, version)
	case 1:
		return fmt.Sprintf("%s:%d", cluster.CrashingImage, version)
	case 2:
		return fmt.Sprintf("%s:%d", cluster.UnreadyImage, version)
	case 3:
		return fmt.Sprintf("%s:%d", cluster.ErringImage, version)
	default:
		return goodImage(random)
	}
}

// newBox returns the spec of a box.
func newBox(random *rand.Rand) modelv1.ModelBoxSpec {
	one := func(in int) bool { return random.IntN(in) == 0 }
	// All boxes have requests: an autoscaler also counts the pods of an orphaned workload, and needs their requests.
	box := modelv1.ModelBoxSpec{Image: newImage(random), Resources: &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse([]string{"100m", "200m"}[random.IntN(2)])},
	}}
	if one(3) {
		modes := []modelv1.ResizeMode{modelv1.ResizeRestart, modelv1.ResizeInPlaceOrRestart, modelv1.ResizeInPlaceOnly}
		box.Resize = &modelv1.ModelBoxResize{Mode: modes[random.IntN(len(modes))]}
	}
	switch random.IntN(14) {
	case 0, 1, 2, 3:
		box.Workload = modelv1.WorkloadStatefulSet
	case 4, 5:
		box.Workload = modelv1.WorkloadDaemonSet
	case 6:
		box.Workload, box.Resize = modelv1.WorkloadJob, nil
		box.Job = &modelv1.ModelBoxJobSpec{Completions: ptr.To(int32(1 + random.IntN(2))), BackoffLimit: ptr.To(int32(1))}
		return box
	case 7:
		box.Workload, box.Resize = modelv1.WorkloadCronJob, nil
		policies := []modelv1.ConcurrencyPolicy{modelv1.AllowConcurrent, modelv1.ForbidConcurrent, modelv1.ReplaceConcurrent}
		box.Job = &modelv1.ModelBoxJobSpec{BackoffLimit: ptr.To(int32(1))}
		box.CronJob = &modelv1.ModelBoxCronJobSpec{Schedule: "0 0 15 * *", ConcurrencyPolicy: &policies[random.IntN(len(policies))], Suspend: ptr.To(one(5))}
		return box
	default:
		box.Workload = modelv1.WorkloadDeployment
	}
	if box.Workload != modelv1.WorkloadDaemonSet {
		box.Replicas = ptr.To(int32(random.IntN(4)))
	}
	if one(2) {
		box.Ports = []corev1.ServicePort{{Port: 80}}
		if one(3) {
			box.Ingress = &modelv1.ModelBoxIngress{Hosts: []string{"web.example.com"}}
		}
		if one(2) {
			box.Route = newRoute()
		}
	}
	if one(3) {
		box.Configs = []modelv1.ModelBoxConfig{{MountPath: "/etc/web", Data: map[string]string{"version": fmt.Sprint(random.IntN(3))}}}
	}
	if box.Workload == modelv1.WorkloadStatefulSet && one(2) {
		storage := modelv1.ModelBoxStorage{Name: retainedStorage, MountPath: "/data", RequestedSize: resource.MustParse("1Gi")}
		if one(2) {
			storage.Name, storage.Retain = deletedStorage, ptr.To(false)
		}
		box.Storage = []modelv1.ModelBoxStorage{storage}
	}
	if one(3) {
		box.DisruptionBudget = newDisruptionBudget(box.Workload)
	}
	if one(8) {
		box.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}
	}
	if one(4) {
		box.MinReadySeconds = ptr.To(int32(10))
	}
	if one(2) {
		box.Rollout = newRollout(random, box.Workload)
		box.ProgressDeadlineSeconds = ptr.To(int32(60 + random.IntN(600)))
	}
	if one(12) {
		box.Paused = true
	}
	if one(6) {
		box.Before = &modelv1.ModelBoxJob{Image: newImage(random), Command: []string{"migrate"}, BackoffLimit: ptr.To(int32(1)), ActiveDeadlineSeconds: ptr.To(int64(120))}
	}
	if box.Workload != modelv1.WorkloadDaemonSet && one(5) {
		box.Replicas = nil
		box.Autoscaling = &modelv1.ModelBoxAutoscaling{MinReplicas: ptr.To(int32(1)), MaxReplicas: 3, CPU: ptr.To(int32(50))}
	}
	if one(4) {
		box.RestartOn = ptr.To(modelv1.RestartOnReferences)
		box.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: settingsName}, Optional: ptr.To(true),
		}}}
	}
	if one(4) {
		box.Labels = map[string]string{"tier": fmt.Sprint(random.IntN(3))}
	}
	return box
}

// editedBox returns the spec with some fields of another random spec.
func editedBox(random *rand.Rand, spec modelv1.ModelBoxSpec) modelv1.ModelBoxSpec {
	percent := func(chance int) bool { return random.IntN(100) < chance }
	other := newBox(random)
	if len(spec.Storage) > 0 && percent(30) {
		spec.Storage = grown(spec.Storage)
		return spec
	}
	if percent(60) {
		spec.Image = other.Image
	}
	if spec.Workload.RunsToCompletion() {
		if spec.CronJob != nil && percent(20) {
			cronJob := *spec.CronJob
			cronJob.Suspend = ptr.To(!*cronJob.Suspend)
			spec.CronJob = &cronJob
		}
		return spec
	}
	if percent(15) && spec.Workload != modelv1.WorkloadDaemonSet && spec.Autoscaling == nil {
		spec.Replicas = ptr.To(int32(random.IntN(4)))
	}
	if percent(20) {
		other.Rollout = newRollout(random, spec.Workload)
		spec.Rollout, spec.ProgressDeadlineSeconds = other.Rollout, other.ProgressDeadlineSeconds
	}
	if percent(15) {
		spec.Configs = other.Configs
	}
	if percent(10) {
		spec.Resize = other.Resize
	}
	if percent(10) {
		spec.Ports, spec.Ingress, spec.Route = other.Ports, other.Ingress, other.Route
	}
	if percent(10) {
		spec.DisruptionBudget, spec.NetworkPolicy = nil, other.NetworkPolicy
		if other.DisruptionBudget != nil {
			spec.DisruptionBudget = newDisruptionBudget(spec.Workload)
		}
	}
	if percent(10) {
		spec.Labels, spec.MinReadySeconds = other.Labels, other.MinReadySeconds
	}
	if percent(10) {
		spec.Before = other.Before
	}
	if percent(10) {
		spec.Paused = other.Paused
	}
	if percent(5) && spec.Workload == other.Workload {
		spec.Autoscaling, spec.Replicas = other.Autoscaling, other.Replicas
	}
	return spec
}

// resizedBox returns the spec with other CPU requests, and nothing else that changes the pods.
func resizedBox(random *rand.Rand, spec modelv1.ModelBoxSpec) modelv1.ModelBoxSpec {
	before, sizes := spec.Resources.Requests.Cpu().String(), []string{"100m", "200m", "300m"}
	sizes = slices.DeleteFunc(sizes, func(size string) bool { return size == before })
	spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(sizes[random.IntN(len(sizes))])}}
	if spec.Resize == nil && !spec.Workload.RunsToCompletion() {
		spec.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOrRestart}
	}
	return spec
}

// newDisruptionBudget returns a budget for the workload. The pods of a DaemonSet have no scale, which maxUnavailable needs.
func newDisruptionBudget(workload modelv1.Workload) *modelv1.ModelBoxDisruptionBudget {
	if workload == modelv1.WorkloadDaemonSet {
		return &modelv1.ModelBoxDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(1))}
	}
	return &modelv1.ModelBoxDisruptionBudget{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
}

// grown returns the storage with larger claims.
func grown(storage []modelv1.ModelBoxStorage) []modelv1.ModelBoxStorage {
	storage = slices.Clone(storage)
	for i := range storage {
		size := storage[i].RequestedSize.DeepCopy()
		size.Add(resource.MustParse("1Gi"))
		storage[i].RequestedSize = size
	}
	return storage
}

func newRoute() *modelv1.ModelBoxRoute {
	return &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: []string{"web.example.com"}}
}

func newRollout(random *rand.Rand, workload modelv1.Workload) *modelv1.ModelBoxRollout {
	if random.IntN(4) == 0 {
		return &modelv1.ModelBoxRollout{OnFailure: newFailurePolicy(random)}
	}
	return newStepsRollout(random, workload)
}

func newFailurePolicy(random *rand.Rand) modelv1.RolloutFailurePolicy {
	policies := []modelv1.RolloutFailurePolicy{modelv1.RolloutFailureNone, modelv1.RolloutFailurePause, modelv1.RolloutFailureRollback, modelv1.RolloutFailureRollback}
	return policies[random.IntN(len(policies))]
}

// newStepsRollout returns a rollout in steps.
func newStepsRollout(random *rand.Rand, workload modelv1.Workload) *modelv1.ModelBoxRollout {
	rollout := &modelv1.ModelBoxRollout{OnFailure: newFailurePolicy(random), Type: ptr.To(modelv1.RolloutCanary), Checks: newRolloutChecks(random)}
	if random.IntN(3) == 0 && workload == modelv1.WorkloadDeployment {
		rollout.Type = ptr.To(modelv1.RolloutBlueGreen)
		return rollout
	}
	pauses := []string{"1s", "10s", "2m", modelv1.PauseManual}
	for weight := int32(25); weight <= 75; weight += 25 {
		if random.IntN(2) == 0 {
			rollout.Steps = append(rollout.Steps, modelv1.ModelBoxRolloutStep{Weight: weight, Pause: pauses[random.IntN(len(pauses))]})
		}
	}
	if len(rollout.Steps) == 0 {
		rollout.Steps = []modelv1.ModelBoxRolloutStep{{Weight: 50, Pause: "10s"}}
	}
	return rollout
}

// newRolloutChecks returns the checks of a rollout in steps, for the most part none.
func newRolloutChecks(random *rand.Rand) []modelv1.ModelBoxRolloutCheck {
	if random.IntN(3) > 0 {
		return nil
	}
	intervals, delays := []string{"10s", "30s", "2m"}, []string{"", "", "15s"}
	check := errorsCheck(intervals[random.IntN(len(intervals))], int32(1+random.IntN(3)))
	check.InitialDelay, check.FailureLimit = delays[random.IntN(len(delays))], ptr.To(int32(random.IntN(2)))
	return []modelv1.ModelBoxRolloutCheck{check}
}

// errorsCheck returns a check that fails at the first measurement of errors.
func errorsCheck(interval string, count int32) modelv1.ModelBoxRolloutCheck {
	return modelv1.ModelBoxRolloutCheck{
		Name: "errors", Prometheus: modelv1.ModelBoxPrometheusQuery{Query: cluster.CheckQuery}, Max: &resource.Quantity{}, Interval: interval, Count: &count,
	}
}

// newStack returns the components of a stack: a chain or a fan of up to three boxes.
func newStack(random *rand.Rand) modelv1.ModelStackSpec {
	var stack modelv1.ModelStackSpec
	names := []string{"db", "api", "web"}
	for i, name := range names[:1+random.IntN(len(names))] {
		box := modelv1.ModelBoxSpec{Image: newImage(random), Replicas: ptr.To(int32(1 + random.IntN(2))), Ports: []corev1.ServicePort{{Port: 80}}}
		component := modelv1.ModelStackComponent{Name: name, Box: &box}
		if i == 0 && random.IntN(5) == 0 {
			component = modelv1.ModelStackComponent{Name: name, External: &modelv1.ModelStackExternal{Host: "192.0.2.1", Port: 80}}
		}
		if i > 0 && random.IntN(4) > 0 {
			component.DependsOn = []string{names[random.IntN(i)]}
		}
		stack.Components = append(stack.Components, component)
	}
	if random.IntN(4) == 0 {
		stack.Rollout = modelv1.ComponentsParallel
	}
	if random.IntN(4) == 0 {
		stack.Deletion = modelv1.ComponentsParallel
	}
	if random.IntN(4) == 0 {
		stack.Isolate = ptr.To(true)
	}
	return stack
}
