// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// StableRecordAnnotation is set on the workload of a box whose spec.rollout.onFailure is "Rollback" while its pods are to be
	// other than they were when its rollout was complete last. Its value is the box as it was then, in the form of
	// RecordAnnotation. It is used only where status.rollout.stable.podsHash says the same of it.
	StableRecordAnnotation = "model.github.com/stable-record"

	// RolledBackAnnotation is set on the workload of a box while the box is rolled back: the workload runs the pods of
	// StableRecordAnnotation, and not of RecordAnnotation. Its value is the generation of the box.
	RolledBackAnnotation = "model.github.com/rolled-back"

	// RolloutStepAnnotation is set on the workload of a box while its rollout is in steps. Its value is the number of the step. A
	// Deployment has RolledBackAnnotation as well until the last step is over, because it runs the pods of
	// StableRecordAnnotation.
	RolloutStepAnnotation = "model.github.com/rollout-step"

	// CandidateLabel is set, to "true", on the candidate Deployment of a box, on its Service and on its pods.
	CandidateLabel = "model.github.com/candidate"
)

// RolloutType is how a rollout brings a new revision to the pods.
// +enum
// +k8s:enum
type RolloutType string

const (
	// RolloutCanary gives the new revision a share of the traffic, step by step.
	RolloutCanary RolloutType = "Canary"
	// RolloutBlueGreen starts all pods of the new revision beside the stable pods, and then sends all traffic to them at once.
	RolloutBlueGreen RolloutType = "BlueGreen"
)

// PauseManual is the pause of a step that ends when the subresource promote is created.
const PauseManual = "Manual"

// MaxRolloutSteps is how many steps a rollout can have.
const MaxRolloutSteps = 20

// ModelBoxRolloutStep is a step of a rollout.
type ModelBoxRolloutStep struct {
	// weight is the percentage of the traffic that the new revision gets in this step: exact with a route, otherwise as near
	// as the number of pods allows. From 1 to 100, and not less than the weight of the step before. Required for the type
	// "Canary", and not allowed for "BlueGreen".
	//
	// Example: 25
	// +optional
	Weight int32 `json:"weight,omitempty" protobuf:"varint,1,opt,name=weight"`

	// pause is how long the step lasts once its pods are available and have their traffic: a duration, such as "5m", or "Manual" to
	// wait for the subresource promote. By default, the next step follows at once.
	//
	// Example: 5m
	// +optional
	Pause string `json:"pause,omitempty" protobuf:"bytes,2,opt,name=pause"`
}

// MaxRolloutChecks is how many checks a rollout can have.
const MaxRolloutChecks = 10

// The placeholders in the query of a check.
const (
	// CheckQueryStable is replaced by the hash of the stable pods.
	CheckQueryStable = "{{stable}}"
	// CheckQueryCanary is replaced by the hash of the pods of the new revision.
	CheckQueryCanary = "{{canary}}"
)

// ModelBoxRolloutCheck is what the steps of a rollout measure of the new revision.
type ModelBoxRolloutCheck struct {
	// name is a DNS label, and unique among the checks. Required.
	//
	// Example: error-rate
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// prometheus is the query that measures. Required.
	//
	// Example: {query: 'sum(rate(http_errors_total{pod=~"web-canary-{{canary}}-.*"}[5m]))'}
	Prometheus ModelBoxPrometheusQuery `json:"prometheus" protobuf:"bytes,2,opt,name=prometheus"`

	// max is the greatest value with which a measurement succeeds. At least one of max and min is required.
	//
	// Example: 50m
	// +optional
	// +k8s:opaqueType
	Max *resource.Quantity `json:"max,omitempty" protobuf:"bytes,3,opt,name=max"`

	// min is the least value with which a measurement succeeds. At least one of max and min is required.
	//
	// Example: "1"
	// +optional
	// +k8s:opaqueType
	Min *resource.Quantity `json:"min,omitempty" protobuf:"bytes,4,opt,name=min"`

	// interval is the time between two measurements, from "5s" to "1h". Defaults to "30s".
	//
	// Example: 1m
	// +optional
	Interval string `json:"interval,omitempty" protobuf:"bytes,5,opt,name=interval"`

	// count is how many measurements must succeed in each step before it is over. Defaults to 1.
	//
	// Example: 5
	// +optional
	// +k8s:opaqueType
	Count *int32 `json:"count,omitempty" protobuf:"varint,6,opt,name=count"`

	// failureLimit is how many measurements may fail in each step. The rollout fails with the next one. Defaults to 0.
	//
	// Example: 1
	// +optional
	// +k8s:opaqueType
	FailureLimit *int32 `json:"failureLimit,omitempty" protobuf:"varint,7,opt,name=failureLimit"`

	// initialDelay is the time between when the pods of a step are available and have their traffic and the first measurement. By
	// default, the first measurement follows at once.
	//
	// Example: 1m
	// +optional
	InitialDelay string `json:"initialDelay,omitempty" protobuf:"bytes,8,opt,name=initialDelay"`
}

// ModelBoxPrometheusQuery is a query for the Prometheus of the server.
type ModelBoxPrometheusQuery struct {
	// query is a query in PromQL. Its result must be a single number. It sees only the metrics of the namespace of the box. The
	// server replaces "{{stable}}" by the hash of the stable pods, and "{{canary}}" by the hash of the pods of the new revision:
	// the label pod-template-hash of the pods of a Deployment, and the label controller-revision-hash of the pods of a
	// StatefulSet. Required.
	//
	// Example: 'sum(rate(http_errors_total{pod=~"web-canary-{{canary}}-.*"}[5m]))'
	Query string `json:"query" protobuf:"bytes,1,opt,name=query"`
}

// RolloutFailurePolicy says what becomes of a rollout that has failed.
// +enum
// +k8s:enum
type RolloutFailurePolicy string

const (
	// RolloutFailureNone leaves it as it is.
	RolloutFailureNone RolloutFailurePolicy = "None"
	// RolloutFailurePause lets no further pod get the new revision.
	RolloutFailurePause RolloutFailurePolicy = "Pause"
	// RolloutFailureRollback gives the pods the last revision back that was complete.
	RolloutFailureRollback RolloutFailurePolicy = "Rollback"
)

// ModelBoxRollout is when a rollout has failed, and what follows. A rollout has failed when it has made no progress for
// progressDeadlineSeconds, or when a new pod fails for good: its image is invalid, or could not be pulled for 30 seconds, a
// ConfigMap, a Secret or a key of them is not there for as long, or a container has crashed more than maxRestarts times.
type ModelBoxRollout struct {
	// onFailure is what follows when a rollout has failed: "None" leaves it as it is, "Pause" lets no further pod get the new
	// revision, "Rollback" gives the pods the last revision back whose rollout was complete, with its files in configs, and leaves
	// the spec as it is. The rollout is tried again when the pods that the box asks for change, or when the subresource retry is
	// created. Defaults to "None".
	//
	// Example: Rollback
	// +optional
	// +k8s:required
	OnFailure RolloutFailurePolicy `json:"onFailure,omitempty" protobuf:"bytes,1,opt,name=onFailure,casttype=RolloutFailurePolicy"`

	// maxRestarts is the number of restarts that a container of a new pod may have before the rollout fails. Defaults to 3.
	//
	// Example: 5
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	MaxRestarts *int32 `json:"maxRestarts,omitempty" protobuf:"varint,2,opt,name=maxRestarts"`

	// type is how a new revision is brought to the pods once a rollout of the box has been complete: "Canary" gives it a share of the
	// traffic, step by step; "BlueGreen" starts all of its pods beside the stable pods, and then gives it all of the traffic at once.
	// By default, the workload replaces its pods as it always does. A Deployment can have both types, a StatefulSet and a DaemonSet
	// "Canary".
	//
	// Example: Canary
	// +optional
	// +k8s:optional
	Type *RolloutType `json:"type,omitempty" protobuf:"bytes,3,opt,name=type,casttype=RolloutType"`

	// steps are the steps before the new revision takes the place of the stable one. At least one for the type "Canary", at most 20.
	//
	// Example: [{weight: 10, pause: 5m}, {weight: 50, pause: Manual}]
	// +optional
	// +k8s:optional
	// +k8s:maxItems=20
	// +listType=atomic
	Steps []ModelBoxRolloutStep `json:"steps,omitempty" protobuf:"bytes,4,rep,name=steps"`

	// checks are measurements of the new revision in each step. A step is over when they have succeeded, and the rollout fails when
	// they fail. They need type, and a server with a Prometheus. At most 10.
	//
	// Example: [{name: error-rate, prometheus: {query: 'sum(rate(http_errors_total{pod=~"web-canary-{{canary}}-.*"}[5m]))'}, max: 50m}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=10
	Checks []ModelBoxRolloutCheck `json:"checks,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,5,rep,name=checks"`
}

// RolloutPhase is how far a rollout has come.
// +enum
type RolloutPhase string

const (
	// RolloutProgressing is a rollout in progress.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutComplete is one whose pods are all there and available.
	RolloutComplete RolloutPhase = "Complete"
	// RolloutFailed is one that has failed, and is left as it is.
	RolloutFailed RolloutPhase = "Failed"
	// RolloutPaused is one that has failed, and was stopped where it was.
	RolloutPaused RolloutPhase = "Paused"
	// RolloutRolledBack is one that has failed, and in whose place the stable revision is.
	RolloutRolledBack RolloutPhase = "RolledBack"
)

// HasFailed returns whether a rollout has failed that is in this phase.
func (p RolloutPhase) HasFailed() bool {
	return p == RolloutFailed || p == RolloutPaused || p == RolloutRolledBack
}

// RolloutAborted is the reason of a rollout that a user has aborted.
const RolloutAborted = "Aborted"

// MaxFailedRevisions is how many revisions a status lists that have failed.
const MaxFailedRevisions = 10

// ModelBoxRolloutStatus is how the rollout of the pods that the box asks for gets on.
type ModelBoxRolloutStatus struct {
	// phase is how far the rollout has come: "Progressing", "Complete", or one of those that have failed: "Failed" is left as it
	// is, "Paused" is stopped where it was, and in the place of "RolledBack" is the stable revision.
	//
	// Example: Progressing
	// +optional
	Phase RolloutPhase `json:"phase,omitempty" protobuf:"bytes,1,opt,name=phase,casttype=RolloutPhase"`

	// podsHash identifies the pods that the box asks for: their template, and those files of configs that a change of replaces the
	// pods for.
	//
	// Example: 6fd9e0c1b5a94d2f
	// +optional
	PodsHash string `json:"podsHash,omitempty" protobuf:"bytes,2,opt,name=podsHash"`

	// startedAt is when the rollout began, or was tried again last.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	StartedAt metav1.Time `json:"startedAt,omitempty" protobuf:"bytes,3,opt,name=startedAt"`

	// reason is why the rollout has failed, in one word: the reason of a failing pod, or ProgressDeadlineExceeded. It is empty if
	// the rollout has not failed.
	//
	// Example: ImagePullBackOff
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`

	// message says why the rollout has failed, or is not in steps, and what keeps the box from rolling back, if anything does.
	//
	// Example: "pod web-5d8f7c9b6-2xkqp, container web: Back-off pulling image"
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`

	// stable is what the pods were when a rollout of them was complete last: what a rollback gives back. It is not there before
	// the first one.
	//
	// Example: {podsHash: 6fd9e0c1b5a94d2f, generation: 1, name: web-5d8f7c9b6}
	// +optional
	Stable *ModelBoxRolloutRevision `json:"stable,omitempty" protobuf:"bytes,6,opt,name=stable"`

	// failedRevisions are those whose rollouts have failed last, the newest at the end; at most 10.
	//
	// Example: [{podsHash: 0a1b2c3d4e5f6071, generation: 2, name: web-7c9b65d8f, reason: ImagePullBackOff}]
	// +optional
	// +listType=atomic
	FailedRevisions []ModelBoxFailedRevision `json:"failedRevisions,omitempty" protobuf:"bytes,7,rep,name=failedRevisions"`

	// step is the number of the step that the rollout is in, from 1. After the last step of spec.rollout.steps, it is one more while
	// the new revision takes the place of the stable one. It is not there while the rollout is not in steps.
	//
	// Example: 1
	// +optional
	// +k8s:opaqueType
	Step *int32 `json:"step,omitempty" protobuf:"varint,8,opt,name=step"`

	// weight is the percentage of the traffic that the new revision really gets: without a route, its share of the available pods.
	// It is not there while the rollout is not in steps.
	//
	// Example: 25
	// +optional
	// +k8s:opaqueType
	Weight *int32 `json:"weight,omitempty" protobuf:"varint,9,opt,name=weight"`

	// nextStepAt is when the pause of the step is over. It is not there while that is not known.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	NextStepAt *metav1.Time `json:"nextStepAt,omitempty" protobuf:"bytes,10,opt,name=nextStepAt"`

	// candidate is what runs beside the stable pods. It is there while these pods serve, or may be needed.
	//
	// Example: {podsHash: 0a1b2c3d4e5f6071, generation: 2, availableReplicas: 1}
	// +optional
	Candidate *ModelBoxRolloutCandidate `json:"candidate,omitempty" protobuf:"bytes,11,opt,name=candidate"`

	// traffic is which pods get the traffic of the box. It is not there while all pods of the box share it.
	//
	// Example: {service: Stable, stableHash: 5d8f7c9b6, weight: 25}
	// +optional
	Traffic *ModelBoxRolloutTraffic `json:"traffic,omitempty" protobuf:"bytes,12,opt,name=traffic"`

	// checks are the results of the checks in the step that the rollout is in, or has failed in.
	//
	// Example: [{name: error-rate, step: 1, successes: 2, value: "0.01"}]
	// +optional
	// +listType=map
	// +listMapKey=name
	Checks []ModelBoxRolloutCheckStatus `json:"checks,omitempty" protobuf:"bytes,13,rep,name=checks"`

	// jobs are the Jobs of the last revisions, the newest at the end; at most 20. A Job that has succeeded does not run again for the
	// same pods.
	//
	// Example: [{name: web-before-5d8f7c9b61, type: Before, podsHash: 6fd9e0c1b5a94d2f, phase: Succeeded}]
	// +optional
	// +listType=map
	// +listMapKey=name
	Jobs []ModelBoxRolloutJob `json:"jobs,omitempty" protobuf:"bytes,14,rep,name=jobs"`
}

// ModelBoxRolloutCheckStatus is the results of a check in a step of a rollout.
type ModelBoxRolloutCheckStatus struct {
	// name is the name of the check. Required.
	//
	// Example: error-rate
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// step is the number of the step, from 1. Required.
	//
	// Example: 1
	Step int32 `json:"step" protobuf:"varint,2,opt,name=step"`

	// successes is the number of measurements that have succeeded.
	//
	// Example: 2
	// +optional
	Successes int32 `json:"successes,omitempty" protobuf:"varint,3,opt,name=successes"`

	// failures is the number of measurements that have failed.
	//
	// Example: 1
	// +optional
	Failures int32 `json:"failures,omitempty" protobuf:"varint,4,opt,name=failures"`

	// inconclusive is the number of measurements without a single number as their result. They neither succeed nor fail.
	//
	// Example: 1
	// +optional
	Inconclusive int32 `json:"inconclusive,omitempty" protobuf:"varint,5,opt,name=inconclusive"`

	// value is the result of the last measurement. It is not there if that had no single number as its result.
	//
	// Example: "0.01"
	// +optional
	Value string `json:"value,omitempty" protobuf:"bytes,6,opt,name=value"`

	// reachedAt is when the pods of the step were available and had their traffic.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	ReachedAt *metav1.Time `json:"reachedAt,omitempty" protobuf:"bytes,7,opt,name=reachedAt"`

	// lastMeasuredAt is when Prometheus was asked last, whether it answered or not.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	LastMeasuredAt *metav1.Time `json:"lastMeasuredAt,omitempty" protobuf:"bytes,8,opt,name=lastMeasuredAt"`

	// message says why the last measurement did not succeed. Empty if it did.
	//
	// Example: no data
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,9,opt,name=message"`
}

// ModelBoxRolloutCandidate is the new revision of the pods of a box while it runs beside the stable one.
type ModelBoxRolloutCandidate struct {
	// podsHash identifies the pods, like podsHash of the rollout. Required.
	//
	// Example: 0a1b2c3d4e5f6071
	PodsHash string `json:"podsHash" protobuf:"bytes,1,opt,name=podsHash"`

	// generation is the generation of the box with these pods. Required.
	//
	// Example: 2
	Generation int64 `json:"generation" protobuf:"varint,2,opt,name=generation"`

	// availableReplicas is the number of available pods of the new revision.
	//
	// Example: 1
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty" protobuf:"varint,3,opt,name=availableReplicas"`
}

// TrafficTarget says which pods the Service of a box leads to.
// +enum
type TrafficTarget string

const (
	// TrafficToStable are the pods of the stable revision.
	TrafficToStable TrafficTarget = "Stable"
	// TrafficToCandidate are the pods of the candidate.
	TrafficToCandidate TrafficTarget = "Candidate"
	// TrafficToAll are all pods of the box.
	TrafficToAll TrafficTarget = "All"
)

// ModelBoxRolloutTraffic is which pods get the traffic of a box.
type ModelBoxRolloutTraffic struct {
	// service is which pods the Service of the box leads to: "Stable", "Candidate" or "All". Required.
	//
	// Example: Stable
	Service TrafficTarget `json:"service" protobuf:"bytes,1,opt,name=service,casttype=TrafficTarget"`

	// stableHash is the label pod-template-hash of the stable pods. The Service selects them by it.
	//
	// Example: 5d8f7c9b6
	// +optional
	StableHash string `json:"stableHash,omitempty" protobuf:"bytes,2,opt,name=stableHash"`

	// weight is the percentage of the traffic that the route leads to the candidate.
	//
	// Example: 25
	// +optional
	Weight int32 `json:"weight,omitempty" protobuf:"varint,3,opt,name=weight"`
}

// ModelBoxRolloutRevision is what the pods of a box were.
type ModelBoxRolloutRevision struct {
	// podsHash identifies the pods, like podsHash of the rollout. Required.
	//
	// Example: 6fd9e0c1b5a94d2f
	PodsHash string `json:"podsHash" protobuf:"bytes,1,opt,name=podsHash"`

	// generation is the first generation of the box with these pods. Required.
	//
	// Example: 1
	Generation int64 `json:"generation" protobuf:"varint,2,opt,name=generation"`

	// name is the name of their ReplicaSet or ControllerRevision. It is empty if the name was not known.
	//
	// Example: web-5d8f7c9b6
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,3,opt,name=name"`
}

// ModelBoxFailedRevision is what the pods of a box were to be when a rollout failed.
type ModelBoxFailedRevision struct {
	// podsHash identifies the pods, like podsHash of the rollout. Required.
	//
	// Example: 0a1b2c3d4e5f6071
	PodsHash string `json:"podsHash" protobuf:"bytes,1,opt,name=podsHash"`

	// generation is the generation of the box with these pods. Required.
	//
	// Example: 2
	Generation int64 `json:"generation" protobuf:"varint,2,opt,name=generation"`

	// name is the name of their ReplicaSet or ControllerRevision. It is empty if the name was not known.
	//
	// Example: web-7c9b65d8f
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,3,opt,name=name"`

	// reason is why the rollout has failed. Required.
	//
	// Example: ImagePullBackOff
	Reason string `json:"reason" protobuf:"bytes,4,opt,name=reason"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRetry is a request to try the rollout of a box again that has failed, and the answer to it. It is the body of the
// subresource retry, and is not stored.
type ModelBoxRetry struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// status is what the retry has done. It is ignored in a request.
	//
	// Example: {startedAt: "2026-01-02T03:04:05Z", generation: 2}
	// +optional
	Status ModelBoxRetryStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status"`
}

// ModelBoxRetryStatus is what a retry has done.
type ModelBoxRetryStatus struct {
	// startedAt is the time of the retry, which the box has in status.rollout.startedAt.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	StartedAt metav1.Time `json:"startedAt,omitempty" protobuf:"bytes,1,opt,name=startedAt"`

	// generation is the generation of the box whose pods are tried again.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Generation int64 `json:"generation,omitempty" protobuf:"varint,2,opt,name=generation"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxPromotion is a request to continue with the next step of the rollout of a box, and the response to it. It is the body
// of the subresource promote, and is not stored.
type ModelBoxPromotion struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// full leaves out all steps that are left, instead of the rest of the current one. Defaults to false.
	//
	// Example: true
	// +optional
	Full bool `json:"full,omitempty" protobuf:"varint,2,opt,name=full"`

	// status is what the promotion has done. It is ignored in a request.
	//
	// Example: {step: 2, generation: 2}
	// +optional
	Status ModelBoxPromotionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// ModelBoxPromotionStatus is what a promotion has done.
type ModelBoxPromotionStatus struct {
	// step is the number of the step that the rollout is in now, as in status.rollout.step of the box.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Step int32 `json:"step,omitempty" protobuf:"varint,1,opt,name=step"`

	// generation is the generation of the box whose pods are rolled out.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Generation int64 `json:"generation,omitempty" protobuf:"varint,2,opt,name=generation"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxAbort is a request to give the pods of a box the stable revision back in the middle of a rollout, and the answer to it.
// The spec of the box stays as it is. It is the body of the subresource abort, and is not stored.
type ModelBoxAbort struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// status is what the abort has done. It is ignored in a request.
	//
	// Example: {stableGeneration: 1, generation: 2}
	// +optional
	Status ModelBoxAbortStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status"`
}

// ModelBoxAbortStatus is what an abort has done.
type ModelBoxAbortStatus struct {
	// stableGeneration is the generation of the box whose pods come back.
	//
	// Example: 1
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	StableGeneration int64 `json:"stableGeneration,omitempty" protobuf:"varint,1,opt,name=stableGeneration"`

	// generation is the generation of the box whose rollout was aborted.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Generation int64 `json:"generation,omitempty" protobuf:"varint,2,opt,name=generation"`
}
