// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PodsHash returns a hash of the pods of the box: of the pod template, and of the files whose changes replace the pods. Two boxes
// with the same hash have the same pods. The box must be defaulted and valid.
func PodsHash(box *modelv1.ModelBox) (string, error) {
	template, err := podTemplate(box)
	if err != nil {
		return "", err
	}
	files := map[string]podFiles{}
	for i := range box.Spec.Configs {
		if config := &box.Spec.Configs[i]; config.Rollout != modelv1.ConfigRolloutLive {
			files[config.Name] = podFiles{config.Data, config.BinaryData}
		}
	}
	// The overlay of the template may override labels and annotations that other children have as well.
	data, err := json.Marshal([]any{box.Spec.Workload, template, files, box.Spec.Labels, box.Spec.Annotations})
	if err != nil {
		return "", fmt.Errorf("encoding the pod template: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}

// podFiles returns the files of a config. nil and an empty map have the same hash, because the store does not keep an empty map.
type podFiles struct {
	Data       map[string]string `json:"data,omitempty"`
	BinaryData map[string][]byte `json:"binaryData,omitempty"`
}

// rolloutPlan is the effect of the rollout of a box on its children.
type rolloutPlan struct {
	// box is the box to render the children from: the box itself, or the box with the pods of its stable revision during a
	// rollback.
	box *modelv1.ModelBox
	// annotations are the annotations of the workload about its rollout.
	annotations map[string]string
	// isHalted stops the rollout: no further pod gets the pod template.
	isHalted bool
	// steps is the rollout in steps that the box is in, nil if it is in none. obstacle is the reason if the box asks for steps and
	// its rollout cannot have any.
	steps    *Steps
	obstacle error
	// traffic is which pods the traffic of the box is to be led to, nil for all.
	traffic *modelv1.ModelBoxRolloutTraffic
	// hasStablePods says that the workload has the stable pods.
	hasStablePods bool
	// awaitsBefore says that no pod of the box may start before the Job of spec.before has succeeded.
	awaitsBefore bool
	// resize is the resize in place that the box is in, nil if it is in none. It is no rollout.
	resize *Resize
}

// serviceTraffic returns which pods the Service of the box leads to, nil for all: it cannot lead to the stable pods while the
// Deployment replaces them.
func (p rolloutPlan) serviceTraffic() *modelv1.ModelBoxRolloutTraffic {
	if p.traffic != nil && p.traffic.Service == modelv1.TrafficToStable && !p.hasStablePods {
		return nil
	}
	return p.traffic
}

// planRollout returns the plan for the rollout in the status of the box. It ignores a status about other pods than the pods in the
// spec.
func planRollout(box *modelv1.ModelBox, live Live) (rolloutPlan, error) {
	plan, rollout := rolloutPlan{box: box}, box.Status.Rollout
	var err error
	if plan.resize, err = ResizeOf(box, live); err != nil {
		return plan, err
	}
	if box.Spec.Rollout == nil || rollout == nil && box.Spec.Before == nil {
		return plan, nil
	}
	hash, err := PodsHash(box)
	if err != nil {
		return plan, err
	}
	if plan.resize != nil {
		plan.annotations = stableAnnotations(box, hash, live)
		return plan, nil
	}
	if plan.awaitsBefore = AwaitsBefore(box, hash, live); rollout == nil {
		return plan, nil
	}
	var phase modelv1.RolloutPhase
	if rollout.PodsHash == hash {
		phase = rollout.Phase
	}
	plan.isHalted = phase == modelv1.RolloutPaused && !plan.awaitsBefore
	if box.Spec.Workload == modelv1.WorkloadDeployment {
		plan.traffic = rollout.Traffic
	}
	plan.hasStablePods = rollout.Stable != nil && rollout.Stable.PodsHash == hash
	isRolledBack := phase == modelv1.RolloutRolledBack
	if !KeepsStable(box) && !isRolledBack || rollout.Stable == nil || plan.hasStablePods {
		return plan, nil
	}
	stable, record := StableBox(box, live)
	if stable == nil || !fitsBeside(box, record) {
		if asksForSteps(box) {
			plan.obstacle = errors.New("the stable pods are not recorded")
		}
		return plan, nil
	}
	plan.annotations = map[string]string{modelv1.StableRecordAnnotation: record}
	if !isRolledBack && !plan.awaitsBefore {
		plan.planSteps(box, stable, hash, live)
		return plan, nil
	}
	rolledBack, err := rolledBackTo(box, stable)
	if err != nil {
		return plan, nil //nolint:nilerr // The status has the reason why the box is not rolled back.
	}
	plan.box, plan.hasStablePods = rolledBack, true
	plan.annotations[modelv1.RolledBackAnnotation] = strconv.FormatInt(box.Generation, 10)
	if plan.awaitsBefore {
		plan.annotations[modelv1.AwaitedJobAnnotation], err = JobName(box, modelv1.JobBefore, hash)
	}
	return plan, err
}

// stableAnnotations returns the annotations of a workload with the record of its stable pods, nil if the box asks for these pods or does
// not need them. If pods cannot be resized, a rollout needs the record.
func stableAnnotations(box *modelv1.ModelBox, hash string, live Live) map[string]string {
	if rollout := box.Status.Rollout; !KeepsStable(box) || rollout == nil || rollout.Stable == nil || rollout.Stable.PodsHash == hash {
		return nil
	}
	stable, record := StableBox(box, live)
	if stable == nil || !fitsBeside(box, record) {
		return nil
	}
	return map[string]string{modelv1.StableRecordAnnotation: record}
}

// planSteps plans the rollout in steps, if the box asks for that.
func (p *rolloutPlan) planSteps(box, stable *modelv1.ModelBox, hash string, live Live) {
	if !asksForSteps(box) || box.Spec.Workload == modelv1.WorkloadDaemonSet && replicasBeside(box, live) == 0 {
		return // or no node is to run a pod
	}
	if p.steps, p.obstacle = newSteps(box, stable, hash, live); p.obstacle != nil {
		return
	}
	maps.Copy(p.annotations, p.steps.annotations())
	p.box, p.hasStablePods = p.steps.primary(), p.steps.HasStablePods()
}

// StableBox returns the box of the last complete rollout, and its record: the known record, or a record on the live workload. The
// pods of the record must have the hash in status.rollout.stable, because users can write records, but not the status. It returns
// nil if there is none.
func StableBox(box *modelv1.ModelBox, live Live) (*modelv1.ModelBox, string) {
	if box.Status.Rollout == nil || box.Status.Rollout.Stable == nil {
		return nil, ""
	}
	records := []string{live.StableRecord}
	if live.Workload != nil {
		annotations := live.Workload.GetAnnotations()
		records = append(records, annotations[modelv1.StableRecordAnnotation], annotations[modelv1.RecordAnnotation])
	}
	for _, record := range records {
		if record == "" {
			continue
		}
		recorded, err := ReadRecord(record)
		if err != nil || recorded.UID != box.UID || recorded.Namespace != box.Namespace || recorded.Name != box.Name {
			continue
		}
		modelv1.SetObjectDefaults_ModelBox(recorded)
		if hash, err := recordedPodsHash(recorded); err == nil && hash == box.Status.Rollout.Stable.PodsHash {
			return recorded, record
		}
	}
	return nil, ""
}

// recordedPodsHash returns PodsHash of a recorded box. The box need not be valid, because users who can write workloads can write
// records.
func recordedPodsHash(recorded *modelv1.ModelBox) (hash string, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the recorded box cannot be rendered")
		}
	}()
	return PodsHash(recorded)
}

// RecordedRollout returns the rollout status of a recorded box from the annotations of its workload, for a box whose status is
// lost: the pods of the last complete rollout, and whether the box was rolled back to them or is in a step. It returns nil if the
// annotations have no such pods.
func RecordedRollout(workload metav1.Object, recorded *modelv1.ModelBox) *modelv1.ModelBoxRolloutStatus {
	stable, err := ReadRecord(workload.GetAnnotations()[modelv1.StableRecordAnnotation])
	if err != nil || recorded.Spec.Rollout == nil || stable.UID != recorded.UID || stable.Namespace != recorded.Namespace || stable.Name != recorded.Name {
		return nil
	}
	asked := recorded.DeepCopy()
	var hashes []string
	for _, box := range []*modelv1.ModelBox{asked, stable} {
		modelv1.SetObjectDefaults_ModelBox(box)
		hash, err := recordedPodsHash(box)
		if err != nil {
			return nil
		}
		hashes = append(hashes, hash)
	}
	rollout := &modelv1.ModelBoxRolloutStatus{
		Phase:    modelv1.RolloutProgressing,
		PodsHash: hashes[0],
		Stable:   &modelv1.ModelBoxRolloutRevision{PodsHash: hashes[1], Generation: stable.Generation},
	}
	if asksForSteps(asked) && asked.Spec.Workload == modelv1.WorkloadDeployment {
		// There may be a candidate that serves. If there is none, the status will be without one when the stable pods are available.
		rollout.Candidate = &modelv1.ModelBoxRolloutCandidate{PodsHash: hashes[0], Generation: recorded.Generation}
	}
	if step, isInSteps := workload.GetAnnotations()[modelv1.RolloutStepAnnotation]; isInSteps {
		if number, err := strconv.ParseInt(step, 10, 32); err == nil && number > 0 {
			rollout.Step = ptr.To(int32(number))
		}
		return rollout
	}
	if _, awaitsJob := workload.GetAnnotations()[modelv1.AwaitedJobAnnotation]; isRolledBack(workload, recorded) && !awaitsJob {
		rollout.Phase, rollout.Reason, rollout.Message = modelv1.RolloutRolledBack, "Unknown", "the store was lost, and with it the reason"
	}
	return rollout
}

// CanRollBack returns nil if the pods of the box can be rolled back to the pods of the stable box, and otherwise the reason why
// not. A rollback neither deletes nor creates storage.
func CanRollBack(box, stable *modelv1.ModelBox, record string) error {
	if !fitsBeside(box, record) {
		return errors.New("the box is too large to be recorded twice")
	}
	_, err := rolledBackTo(box, stable)
	return err
}

// fitsBeside returns whether the record of the box and another record fit on a workload.
func fitsBeside(box *modelv1.ModelBox, other string) bool {
	_, err := recordBeside(box, map[string]string{modelv1.StableRecordAnnotation: other})
	return err == nil
}

// rolledBackTo returns the box during a rollback: with the pods of the stable box, and all other fields of the box. It returns an
// error if both cannot be combined.
func rolledBackTo(box, stable *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	rolledBack := *box
	spec, now := stable.Spec, &box.Spec
	spec.Replicas, spec.Strategy, spec.RollingUpdate = now.Replicas, now.Strategy, now.RollingUpdate
	spec.MinReadySeconds, spec.ProgressDeadlineSeconds, spec.Rollout = now.MinReadySeconds, now.ProgressDeadlineSeconds, now.Rollout
	spec.PodManagementPolicy, spec.RevisionHistoryLimit = now.PodManagementPolicy, now.RevisionHistoryLimit
	spec.RestartOn, spec.Resize, spec.Job, spec.CronJob = now.RestartOn, now.Resize, now.Job, now.CronJob
	spec.Autoscaling, spec.DisruptionBudget, spec.NetworkPolicy = now.Autoscaling, now.DisruptionBudget, now.NetworkPolicy
	spec.IgnoreDrift, spec.Paused, spec.Before, spec.After = now.IgnoreDrift, now.Paused, now.Before, now.After
	var err error
	if spec.Configs, err = stableConfigs(now, &stable.Spec); err != nil {
		return nil, err
	}
	if spec.Storage, err = stableStorage(now, &stable.Spec); err != nil {
		return nil, err
	}
	hash, err := PodsHash(stable)
	if err != nil {
		return nil, err
	}
	// Use only the parts of the record that its hash covers. The Service has the ports of the box, with the target ports of the
	// stable pods.
	spec.ServiceType, spec.Service = now.ServiceType, now.Service
	ofPods, err := stablePorts(now.Ports, stable.Spec.Ports)
	for _, spec.Ports = range [][]corev1.ServicePort{now.Ports, ofPods} {
		spec.Ingress, spec.Route, spec.GRPCRoute = ingressBeside(now, spec.Ports), httpRouteBeside(now, spec.Ports), grpcRouteBeside(now, spec.Ports)
		rolledBack.Spec = spec
		if is, err := PodsHash(&rolledBack); err == nil && is == hash {
			return &rolledBack, nil
		}
	}
	return nil, cmp.Or(err, errors.New("its pods cannot be what they were beside what the box says now"))
}

// stablePorts returns the ports of the box with the target ports of the stable pods.
func stablePorts(now, stable []corev1.ServicePort) ([]corev1.ServicePort, error) {
	ports := make([]corev1.ServicePort, len(stable))
	for i := range stable {
		j := slices.IndexFunc(now, func(other corev1.ServicePort) bool {
			return other.Name == stable[i].Name && other.Protocol == stable[i].Protocol
		})
		if j < 0 {
			return nil, fmt.Errorf("port %q of its pods is no longer in the box", cmp.Or(stable[i].Name, stable[i].TargetPort.String()))
		}
		ports[i] = now[j]
		ports[i].TargetPort = stable[i].TargetPort
	}
	return ports, nil
}

// stableConfigs returns the configs of the stable pods. Configs whose changes do not replace pods have the files of the box.
func stableConfigs(now, stable *modelv1.ModelBoxSpec) ([]modelv1.ModelBoxConfig, error) {
	configs := slices.Clone(stable.Configs)
	for i := range configs {
		config := &configs[i]
		if config.Rollout != modelv1.ConfigRolloutLive {
			continue
		}
		j := slices.IndexFunc(now.Configs, func(other modelv1.ModelBoxConfig) bool {
			return other.Name == config.Name && other.Rollout == modelv1.ConfigRolloutLive
		})
		if j < 0 {
			return nil, fmt.Errorf("config %q, whose rollout was Live, is no longer in the box", config.Name)
		}
		config.Data, config.BinaryData = now.Configs[j].Data, now.Configs[j].BinaryData
	}
	return configs, nil
}

// stableStorage returns the storage of the stable pods, with the sizes in the box.
func stableStorage(now, stable *modelv1.ModelBoxSpec) ([]modelv1.ModelBoxStorage, error) {
	if stable.Workload == modelv1.WorkloadStatefulSet && len(now.Storage) != len(stable.Storage) {
		return nil, errors.New("it has other storage, for which its StatefulSet would have to be recreated")
	}
	storage := slices.Clone(stable.Storage)
	for i := range storage {
		j := slices.IndexFunc(now.Storage, func(other modelv1.ModelBoxStorage) bool { return other.Name == storage[i].Name })
		if j < 0 {
			return nil, fmt.Errorf("storage %q is no longer in the box", storage[i].Name)
		}
		mountPath := storage[i].MountPath
		storage[i] = now.Storage[j]
		storage[i].MountPath = mountPath
	}
	return storage, nil
}

// annotateWorkload adds the annotations of the plan to a rendered workload, and halts its rollout if the plan is halted.
func (p rolloutPlan) annotateWorkload(workload runtime.ApplyConfiguration) {
	switch workload := workload.(type) {
	case *applyappsv1.DeploymentApplyConfiguration:
		workload.WithAnnotations(p.annotations)
		if p.steps != nil && workload.Spec.Replicas != nil {
			if replicas := p.steps.primaryReplicas(); replicas != nil {
				workload.Spec.WithReplicas(*replicas)
			}
		}
		if p.isHalted && (p.steps == nil || !p.steps.HasStablePods()) {
			workload.Spec.WithPaused(true)
		}
	case *applyappsv1.StatefulSetApplyConfiguration:
		workload.WithAnnotations(p.annotations)
		switch {
		case p.isHalted:
			setPartition(workload, HaltedPartition)
		case p.steps != nil && p.steps.partition() > 0:
			setPartition(workload, p.steps.partition())
		}
	case *applyappsv1.DaemonSetApplyConfiguration:
		workload.WithAnnotations(p.annotations)
		if p.isHalted || p.steps.replacesOnDelete() {
			workload.Spec.UpdateStrategy.WithType(appsv1.OnDeleteDaemonSetStrategyType) // The limits stay, for what is available.
		}
	}
}

// HaltedPartition is the partition of a StatefulSet whose update is halted, for any number of pods of an autoscaler.
const HaltedPartition = math.MaxInt32

// setPartition keeps an update of the StatefulSet from the pods of lower ordinals.
func setPartition(set *applyappsv1.StatefulSetApplyConfiguration, partition int32) {
	strategy := set.Spec.UpdateStrategy
	if strategy.RollingUpdate == nil {
		strategy.WithRollingUpdate(applyappsv1.RollingUpdateStatefulSetStrategy())
	}
	strategy.RollingUpdate.WithPartition(partition)
}

// isRolledBack returns whether the pods of a workload or of a revision are the pods of modelv1.StableRecordAnnotation instead of
// the pods of this recorded box. A ReplicaSet keeps annotations that its Deployment no longer has.
func isRolledBack(object metav1.Object, recorded *modelv1.ModelBox) bool {
	return object.GetAnnotations()[modelv1.RolledBackAnnotation] == strconv.FormatInt(recorded.Generation, 10)
}
