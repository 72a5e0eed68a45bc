// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// conditions are the status and the reason of each condition; "none" is one that is not there.
type conditions struct {
	ready, available, progressing, applied, stalled string
}

// good are the conditions of a box whose rollout is complete.
var good = conditions{"True Ready", "True MinimumReplicasAvailable", "False RolloutComplete", "True Applied", "none"}

// with returns the conditions with the ones that are given changed.
func (c conditions) with(changed conditions) conditions {
	for _, field := range []struct{ from, to *string }{
		{&changed.ready, &c.ready}, {&changed.available, &c.available},
		{&changed.progressing, &c.progressing}, {&changed.applied, &c.applied}, {&changed.stalled, &c.stalled},
	} {
		if *field.from != "" {
			*field.to = *field.from
		}
	}
	return c
}

// rollingOut are the conditions of a box in the middle of a rollout.
var rollingOut = good.with(conditions{ready: "False Progressing", progressing: "True Progressing"})

func summarize(all []metav1.Condition) conditions {
	of := func(conditionType string) string {
		condition := meta.FindStatusCondition(all, conditionType)
		if condition == nil {
			return "none"
		}
		return fmt.Sprintf("%s %s", condition.Status, condition.Reason)
	}
	return conditions{
		ready:       of(modelv1.ConditionReady),
		available:   of(modelv1.ConditionAvailable),
		progressing: of(modelv1.ConditionProgressing),
		applied:     of(modelv1.ConditionApplied),
		stalled:     of(modelv1.ConditionStalled),
	}
}

// complete returns what is observed of a box whose rollout is complete.
func complete(changes ...func(*appsv1.Deployment)) *status.Observation {
	workload := kinds.AsWorkload(completeDeployment(changes...))
	observed := &status.Observation{Workload: workload}
	if failure := workload.CreationFailure(); failure != nil {
		observed.CreationFailure = &status.PodFailure{Reason: failure.Reason, Message: failure.Message}
	}
	return observed
}

func TestConditions(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	crashing := newPod("web-1", waiting("app", "CrashLoopBackOff", "back-off"))
	failing := func(err error) *status.Observation {
		observed := complete()
		observed.Failures = []error{fmt.Errorf("applying Deployment web: %w", err)}
		return observed
	}
	notApplied := func(reason string) conditions {
		return good.with(conditions{ready: "False NotApplied", applied: "False " + reason})
	}
	// A failure that does not end by waiting also stalls the box.
	stalledBy := func(reason string) conditions {
		return notApplied(reason).with(conditions{stalled: "True " + reason})
	}
	loadBalancer := func(addresses ...string) *status.Observation {
		observed := complete()
		observed.Service = &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
		for _, address := range addresses {
			ingress := &observed.Service.Status.LoadBalancer.Ingress
			*ingress = append(*ingress, corev1.LoadBalancerIngress{IP: address})
		}
		return observed
	}
	stalled := func(d *appsv1.Deployment) {
		d.Status.Conditions[0] = appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
			Reason: "ProgressDeadlineExceeded", Message: "ReplicaSet has timed out progressing."}
		d.Status.UpdatedReplicas = 1
	}

	pulling := newPod("web-1", waiting("app", "ErrImagePull", "not found"))
	stuck := func() *status.Observation {
		return complete(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 })
	}
	paused := func(d *appsv1.Deployment) { d.Spec.Paused = true }

	for _, row := range []struct {
		name     string
		change   func(*modelv1.ModelBox)
		observed *status.Observation
		want     conditions
	}{
		{"a complete rollout is Ready", nil, complete(), good},
		{"a stopped box is Ready, and says that it is stopped",
			func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) },
			complete(func(d *appsv1.Deployment) {
				d.Spec.Replicas = ptr.To[int32](0)
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 0, 0, 0, 0
			}), good.with(conditions{ready: "True Stopped"})},
		{"a box that is stopping still has pods",
			func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) },
			complete(func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0) }), rollingOut},

		{"there is no Deployment yet", nil, &status.Observation{}, conditions{"False Progressing", "False Progressing", "True Progressing", "True Applied", "none"}},
		{"the Deployment controller has not seen the last change", nil,
			complete(func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 4 }), rollingOut},
		{"the Deployment controller has seen nothing", nil,
			complete(func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }),
			rollingOut.with(conditions{available: "False Progressing"})},
		{"not every replica is updated", nil, complete(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }), rollingOut},
		{"an old replica is still there", nil, complete(func(d *appsv1.Deployment) { d.Status.Replicas = 3 }), rollingOut},
		{"a replica too many is still there", nil,
			complete(func(d *appsv1.Deployment) {
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 3, 3, 3
			}), rollingOut},
		{"an updated replica is not available", nil, complete(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }), rollingOut},
		{"replicas that are not given are one", nil,
			complete(func(d *appsv1.Deployment) {
				d.Spec.Replicas = nil
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
			}), good},
		{"too few replicas serve", nil,
			complete(func(d *appsv1.Deployment) {
				d.Status.AvailableReplicas = 0
				d.Status.Conditions[1] = appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse,
					Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability."}
			}), rollingOut.with(conditions{available: "False MinimumReplicasUnavailable"})},
		{"a rollout that makes no progress has ended", nil, complete(stalled),
			good.with(conditions{ready: "False ProgressDeadlineExceeded", progressing: "False ProgressDeadlineExceeded", stalled: "True ProgressDeadlineExceeded"})},
		{"a change after a stalled rollout is a new rollout", nil,
			complete(stalled, func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 4 }), rollingOut},
		{"a rollout that a user has paused", nil, complete(paused, func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 1 }),
			good.with(conditions{ready: "False DeploymentPaused", progressing: "False DeploymentPaused"})},
		{"a rollout that a user paused before it began", nil, complete(paused, func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 }),
			good.with(conditions{ready: "False DeploymentPaused", progressing: "False DeploymentPaused"})},
		{"a paused Deployment without pods", nil,
			complete(paused, func(d *appsv1.Deployment) {
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 0, 0, 0
			}), good.with(conditions{ready: "False DeploymentPaused", progressing: "False DeploymentPaused"})},
		{"a pause that the Deployment controller has not seen", nil,
			complete(paused, func(d *appsv1.Deployment) { d.Status.ObservedGeneration, d.Status.UpdatedReplicas = 4, 0 }), rollingOut},
		{"a paused Deployment whose rollout is complete", nil, complete(paused), good},
		{"a paused Deployment is scaled all the same", nil,
			complete(paused, func(d *appsv1.Deployment) {
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
			}), rollingOut},
		{"a paused Deployment replaces pods all the same", nil, complete(paused, func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }), rollingOut},

		{"a pod that fails in a rollout is why", nil,
			withPods(complete(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }), crashing),
			rollingOut.with(conditions{ready: "False CrashLoopBackOff"})},
		{"pods that cannot be created are why", nil, complete(func(d *appsv1.Deployment) {
			d.Status.UpdatedReplicas = 0
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"})
		}), rollingOut.with(conditions{ready: "False FailedCreate"})},
		{"a pod that fails is why a rollout made no progress", nil, withPods(complete(stalled), crashing),
			good.with(conditions{ready: "False CrashLoopBackOff", progressing: "False ProgressDeadlineExceeded", stalled: "True ProgressDeadlineExceeded"})},
		{"a pod that fails after the rollout is complete is not counted by the Deployment", nil, withPods(complete(), crashing), good},
		{"an image that cannot be pulled", nil, withPods(stuck(), pulling), rollingOut.with(conditions{ready: "False ErrImagePull"})},
		{"an image that cannot be pulled again", func(box *modelv1.ModelBox) {
			box.Status.Conditions = status.ConditionsOf(box, withPods(stuck(), newPod("web-1", waiting("app", "ImagePullBackOff", "back-off"))))
		}, withPods(stuck(), pulling), rollingOut.with(conditions{ready: "False ImagePullBackOff"})},

		{"a load balancer without an address is not reachable", nil, loadBalancer(), good.with(conditions{ready: "False LoadBalancerPending"})},
		{"a load balancer with an address is", nil, loadBalancer("192.0.2.1"), good},

		{"an object that the box does not own", nil, failing(&apply.NotOwnedError{Kind: "Service", Name: "web"}), stalledBy("NotOwned")},
		{"a child that is being deleted", nil, failing(children.ErrBeingDeleted), notApplied("ChildBeingDeleted")},
		{"a missing right", nil, failing(apierrors.NewForbidden(deployments, "web", errors.New("no"))), stalledBy("Forbidden")},
		{"a quota", nil, failing(apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota: small"))), notApplied("QuotaExceeded")},
		{"an invalid child", nil, failing(apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "web", nil)), stalledBy("Invalid")},
		{"a conflict", nil, failing(&children.ConflictError{Kind: "Deployment", Name: "web"}), notApplied("Conflict")},
		{"anything else", nil, failing(errors.New("connection refused")), notApplied("Error")},
		{"a child that cannot be written stalls the box more than a rollout", nil,
			&status.Observation{Workload: kinds.AsWorkload(completeDeployment(stalled)), Failures: []error{&apply.NotOwnedError{Kind: "Service", Name: "web"}}},
			stalledBy("NotOwned").with(conditions{progressing: "False ProgressDeadlineExceeded"})},
		{"a failure that passes does not hide a rollout that does not", nil,
			&status.Observation{Workload: kinds.AsWorkload(completeDeployment(stalled)), Failures: []error{errors.New("connection refused")}},
			notApplied("Error").with(conditions{progressing: "False ProgressDeadlineExceeded", stalled: "True ProgressDeadlineExceeded"})},
		{"the first of several failures is the reason", nil,
			&status.Observation{Workload: kinds.AsWorkload(completeDeployment()), Failures: []error{children.ErrBeingDeleted, errors.New("connection refused")}},
			notApplied("ChildBeingDeleted")},
		{"what could not be applied comes before a pod that fails", nil,
			withPods(failing(errors.New("connection refused")), crashing), notApplied("Error")},

		{"a paused box with a change that waits", func(box *modelv1.ModelBox) { box.Spec.Paused = true },
			&status.Observation{Workload: kinds.AsWorkload(completeDeployment()), Pending: []string{"Deployment"}},
			good.with(conditions{ready: "False Paused", applied: "False Paused"})},
		{"a paused box without one is Ready", func(box *modelv1.ModelBox) { box.Spec.Paused = true }, complete(), good},
		{"a failure counts more than a pause", func(box *modelv1.ModelBox) { box.Spec.Paused = true },
			&status.Observation{Workload: kinds.AsWorkload(completeDeployment()), Pending: []string{"Deployment"}, Failures: []error{&apply.NotOwnedError{}}}, stalledBy("NotOwned")},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			if row.change != nil {
				row.change(box)
			}
			got := status.ConditionsOf(box, row.observed)
			if diff := cmp.Diff(row.want, summarize(got), cmp.AllowUnexported(conditions{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, condition := range got {
				if condition.ObservedGeneration != box.Generation {
					t.Errorf("%s is of generation %d, want %d", condition.Type, condition.ObservedGeneration, box.Generation)
				}
				if condition.Message == "" {
					t.Errorf("%s has no message", condition.Type)
				}
			}
		})
	}
}

func withPods(observed *status.Observation, pods ...*corev1.Pod) *status.Observation {
	observed.Pods = pods
	return observed
}

// Whatever the numbers are: Ready is True when the Deployment controller's own rule says that the rollout is
// complete and everything is applied, and at no other time.
func TestRolloutIsCompleteWhenTheDeploymentControllerSaysSo(t *testing.T) {
	box := fixture.WebBox(t)
	seen := map[bool]int{}
	for desired := range int32(3) {
		for total := range int32(4) {
			for updated := range total + 1 {
				for available := range updated + 1 {
					for _, observedGeneration := range []int64{4, 5} {
						for _, isApplied := range []bool{true, false} {
							observed := complete(func(d *appsv1.Deployment) {
								d.Spec.Replicas = &desired
								d.Status.ObservedGeneration = observedGeneration
								d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = total, updated, available
							})
							if !isApplied {
								observed.Failures = []error{errors.New("refused")}
							}
							want := isApplied && observedGeneration == 5 && updated == desired && total == desired && available == desired
							seen[want]++
							if got := meta.IsStatusConditionTrue(status.ConditionsOf(box, observed), modelv1.ConditionReady); got != want {
								t.Errorf("desired %d, total %d, updated %d, available %d, generation %d of 5, applied %v: got %v",
									desired, total, updated, available, observedGeneration, isApplied, got)
							}
						}
					}
				}
			}
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the cases are one-sided: %v", seen)
	}
}

func TestStalledIsRemovedWhenItHasPassed(t *testing.T) {
	box := fixture.WebBox(t)
	box.Status.Conditions = status.ConditionsOf(box, &status.Observation{Failures: []error{&apply.NotOwnedError{}}})
	if got := summarize(box.Status.Conditions).stalled; got != "True NotOwned" {
		t.Fatalf("got %s", got)
	}
	if got := summarize(status.ConditionsOf(box, complete())).stalled; got != "none" {
		t.Errorf("got %s, want none", got)
	}
}

func TestConditionMessages(t *testing.T) {
	stuck := complete(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1 })
	replicas := func(desired, total, updated, available int32) *status.Observation {
		return complete(func(d *appsv1.Deployment) {
			d.Spec.Replicas = &desired
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = total, updated, available
		})
	}
	applying := func(err error) *status.Observation {
		return &status.Observation{Failures: []error{fmt.Errorf("applying Service web: %w", err)}}
	}
	services := schema.GroupResource{Resource: "services"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web",
		field.ErrorList{field.Invalid(field.NewPath("spec", "ports").Index(0).Child("nodePort"), 8080, "provided port is not in the valid range")})
	const invalidMessage = `Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 8080: provided port is not in the valid range`
	forbidden := apierrors.NewForbidden(services, "web", errors.New("no"))
	quota := apierrors.NewForbidden(services, "web", errors.New("exceeded quota: small"))
	for _, row := range []struct {
		name      string
		condition string
		observed  *status.Observation
		want      string
	}{
		{"Ready says how many replicas are available", modelv1.ConditionReady, complete(), "2 of 2 replicas are available"},
		{"Progressing says how far it is", modelv1.ConditionProgressing, stuck, "1 out of 2 new replicas have been updated"},
		{"Ready names the pod that fails", modelv1.ConditionReady, withPods(stuck, newPod("web-1", waiting("app", "ErrImagePull", "no such image"))),
			"pod web-1, container app: no such image"},
		{"Available says what the Deployment says", modelv1.ConditionAvailable, complete(), "Deployment has minimum availability."},
		{"Applied has every failure", modelv1.ConditionApplied,
			&status.Observation{Failures: []error{errors.New("one"), errors.New("two")}}, "one\ntwo"},
		{"Ready says why it is not applied", modelv1.ConditionReady, &status.Observation{Failures: []error{children.ErrBeingDeleted}},
			"ChildBeingDeleted: it is being deleted and will be created again when it is gone"},
		{"one of one", modelv1.ConditionReady, replicas(1, 1, 1, 1), "1 of 1 replica is available"},
		{"none of one", modelv1.ConditionReady, replicas(1, 1, 1, 0), "0 of 1 updated replicas are available"},
		{"none of several", modelv1.ConditionReady, replicas(2, 2, 2, 0), "0 of 2 updated replicas are available"},
		{"none that is asked for", modelv1.ConditionProgressing, replicas(0, 0, 0, 0), "0 of 0 replicas are available"},
		{"none runs it", modelv1.ConditionProgressing, replicas(2, 2, 0, 2), "0 out of 2 new replicas have been updated"},
		{"one is old", modelv1.ConditionProgressing, replicas(2, 3, 2, 2), "1 old replica is pending termination"},
		{"several are old", modelv1.ConditionProgressing, replicas(2, 4, 2, 2), "2 old replicas are pending termination"},
		{"one is too many", modelv1.ConditionProgressing, replicas(2, 3, 3, 3), "1 surplus replica is pending termination"},
		{"several are too many", modelv1.ConditionProgressing, replicas(2, 4, 4, 4), "2 surplus replicas are pending termination"},
		{"Applied says once what the API server says", modelv1.ConditionApplied, applying(invalid), invalidMessage},
		{"Ready says it once as well", modelv1.ConditionReady, applying(invalid), invalidMessage},
		{"a missing permission is reported once", modelv1.ConditionReady, applying(forbidden), `services "web" is forbidden: no`},
		{"a quota is reported as one", modelv1.ConditionReady, applying(quota), `QuotaExceeded: services "web" is forbidden: exceeded quota: small`},
		{"an unreadable object is reported as invalid", modelv1.ConditionReady, applying(apierrors.NewBadRequest("unknown field")), "Invalid: applying Service web: unknown field"},
		{"several refusals are a line each", modelv1.ConditionApplied,
			&status.Observation{Failures: append(applying(forbidden).Failures, applying(invalid).Failures...)}, "services \"web\" is forbidden: no\n" + invalidMessage},
		{"Applied names what a pause keeps back", modelv1.ConditionApplied, &status.Observation{Pending: []string{"Deployment", "Service"}},
			"the box is paused; not up to date: Deployment, Service"},
		{"Progressing says who has paused the Deployment", modelv1.ConditionProgressing,
			complete(pausedBy("kubectl-rollout"), func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 1 }),
			`1 out of 2 new replicas have been updated; kubectl-rollout has paused the Deployment, until "kubectl rollout resume deployment/web"`},
		{"Ready says that the Deployment is paused", modelv1.ConditionReady, complete(pausedBy("")),
			`2 of 2 replicas are available; another client has paused the Deployment, until "kubectl rollout resume deployment/web"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := meta.FindStatusCondition(status.ConditionsOf(fixture.WebBox(t), row.observed), row.condition)
			if got == nil || got.Message != row.want {
				t.Errorf("got %+v, want message %q", got, row.want)
			}
		})
	}
}

func TestConditionTransitionTimes(t *testing.T) {
	long := metav1.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	box := fixture.WebBox(t)
	box.Status.Conditions = status.ConditionsOf(box, complete())
	for i := range box.Status.Conditions {
		box.Status.Conditions[i].LastTransitionTime = long
	}
	before := box.DeepCopy()

	box.Generation++
	for _, row := range []struct {
		name     string
		observed *status.Observation
		changed  map[string]bool
	}{
		{"nothing changes", complete(), map[string]bool{}},
		{"another message is no transition", complete(func(d *appsv1.Deployment) { d.Status.Conditions[1].Message = "other" }), map[string]bool{}},
		{"a rollout begins", complete(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }),
			map[string]bool{modelv1.ConditionReady: true, modelv1.ConditionProgressing: true}},
		{"a child cannot be written", &status.Observation{Workload: kinds.AsWorkload(completeDeployment()), Failures: []error{children.ErrBeingDeleted}},
			map[string]bool{modelv1.ConditionReady: true, modelv1.ConditionApplied: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := map[string]bool{}
			for _, condition := range status.ConditionsOf(box, row.observed) {
				if !condition.LastTransitionTime.Equal(&long) {
					got[condition.Type] = true
				}
			}
			if diff := cmp.Diff(row.changed, got); diff != "" {
				t.Errorf("conditions with a new time, -want +got:\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(before.Status, box.Status); diff != "" {
		t.Errorf("the last status was changed:\n%s", diff)
	}
}
