// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPodsGetTheContainerOnce(t *testing.T) {
	f := newTestController(t, newDebugger(), newPod("a-0", 2), newPod("a-1", 1), newPod("b-0", 1, labelled("b")))
	f.reconcile(3, 0)
	check(t, "requests", []string{"a-0", "a-1"}, f.patched())
	check(t, "events", []string{
		"Normal EphemeralContainerAdded PodDebugger tools added the ephemeral container " + containerName,
		"Normal EphemeralContainerAdded PodDebugger tools added the ephemeral container " + containerName,
	}, f.told())
	check(t, "Applied", "True Applied: the container is in 2 pods", f.condition(modelv1.ConditionApplied))
	check(t, "Ready", "False ContainerWaiting: pod a-0: container "+containerName+" is waiting to start (and 1 pod more)", f.condition(modelv1.ConditionReady))

	f.reconcile(3, 2)
	check(t, "requests when they have it", []string(nil), f.patched())
	check(t, "events when they have it", []string(nil), f.told())
	f.createPod(newPod("a-2", 0))
	f.reconcile(4, 2)
	check(t, "requests for a later pod", []string{"a-2"}, f.patched())
	check(t, "debugged pods", int32(3), f.debugger().Status.DebuggedPods)
}

// refuse lets the cluster refuse containers as long as isRefusing says so.
func (f *testController) refuse(isRefusing *bool) {
	f.cluster.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return *isRefusing, nil, apierrors.NewForbidden(podResource, action.(clienttesting.PatchAction).GetName(), errRefused)
	})
}

// letServer answers whether the server has the right to add containers.
func (f *testController) letServer(isAllowed bool) {
	f.cluster.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: isAllowed}}, nil
	})
}

func TestRefusalsAreToldAndRetriedLessAndLess(t *testing.T) {
	f := newTestController(t, newDebugger(), newPod("a-0", 1))
	isRefusing := true
	f.refuse(&isRefusing)
	f.letServer(true)
	const refusal = `pods "a-0" is forbidden: violates the policy of the house`

	check(t, "the first retry", time.Second, f.reconcile(1, 0))
	check(t, "requests", []string{"a-0"}, f.patched())
	check(t, "Applied", "False Forbidden: "+refusal, f.condition(modelv1.ConditionApplied))
	check(t, "the pods", []modelv1.PodDebuggerPod{{Name: "a-0", UID: "a-0-uid", Refusal: refusal}}, f.debugger().Status.Pods)
	check(t, "events", []string{
		"Warning EphemeralContainerRefused PodDebugger tools cannot add an ephemeral container: " + refusal,
		"Warning Forbidden " + refusal,
	}, f.told())

	f.clock.SetTime(f.clock.Now().Add(900 * time.Millisecond))
	check(t, "the rest of the delay", 100*time.Millisecond, f.reconcile(1, 0))
	check(t, "requests before the retry", []string(nil), f.patched())
	for _, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
		f.clock.SetTime(f.clock.Now().Add(want))
		check(t, "the next retry", want, f.reconcile(1, 0))
		check(t, "requests", []string{"a-0"}, f.patched())
	}
	check(t, "events of the same refusal", []string(nil), f.told())

	isRefusing = false
	f.clock.SetTime(f.clock.Now().Add(8 * time.Second))
	f.reconcile(1, 0)
	check(t, "requests", []string{"a-0"}, f.patched())
	check(t, "Applied", "True Applied: the container is in 1 pod", f.condition(modelv1.ConditionApplied))
}

func TestServerWithoutTheRightAsksOnceForAllPods(t *testing.T) {
	f := newTestController(t, newDebugger(), newPod("a-0", 2), newPod("a-1", 1))
	isRefusing := true
	f.refuse(&isRefusing)
	f.letServer(false)
	check(t, "the retry", permissionRetry, f.reconcile(2, 0))
	check(t, "requests", []string{"a-0"}, f.patched())
	want := `pods "a-0" is forbidden: violates the policy of the house: artifacts/components/pod-debugger lets the server add ephemeral containers`
	check(t, "Applied", "False Forbidden: "+want, f.condition(modelv1.ConditionApplied))
	check(t, "Ready", "False Forbidden: "+want, f.condition(modelv1.ConditionReady))
	check(t, "refused pods", int32(0), f.debugger().Status.RefusedPods)
	check(t, "events", []string{"Warning Forbidden " + want}, f.told())

	f.clock.SetTime(f.clock.Now().Add(time.Second))
	check(t, "the rest of the delay", permissionRetry-time.Second, f.reconcile(2, 0))
	check(t, "requests before the retry", []string(nil), f.patched())
	isRefusing = false
	f.clock.SetTime(f.clock.Now().Add(permissionRetry))
	f.reconcile(2, 0)
	check(t, "requests", []string{"a-0", "a-1"}, f.patched())
	check(t, "Applied", "True Applied: the container is in 2 pods", f.condition(modelv1.ConditionApplied))
}

func TestPodsAreWatchedAsLongAsThereIsAPodDebugger(t *testing.T) {
	f := newTestController(t, newDebugger(), newPod("a-0", 1))
	f.reconcile(1, 0)
	if err := f.debuggerCache.Replace(nil, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Controller.ReconcileKey(t.Context(), toolsKey); err != nil {
		t.Fatal(err)
	}
	check(t, "caches of pods", 0, len(f.pods.byNamespace))
}

func TestFinalizerFollowsTheDeletionPolicy(t *testing.T) {
	for _, row := range []struct {
		name    string
		changes []func(*modelv1.PodDebugger)
		want    []string
	}{
		{"none by default", nil, nil},
		{"added before the first pod", []func(*modelv1.PodDebugger){restarting}, []string{modelv1.PodDebuggerRestartFinalizer}},
		{"removed with the policy", []func(*modelv1.PodDebugger){protected}, []string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newDebugger(row.changes...), newPod("a-0", 1))
			f.reconcile(1, 0)
			got := f.debugger().Finalizers
			check(t, "whether there are finalizers", len(row.want), len(got))
			if row.changes != nil {
				check(t, "requests for pods before the finalizers are as they should be", []string(nil), f.patched())
			}
		})
	}
}

// recordRestarts answers requests to restart a box, and returns where the names of these boxes are. The box mail is paused.
func (f *testController) recordRestarts() *[]string {
	var restarted []string
	f.models.PrependReactor("create", "modelboxes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "restart" {
			return false, nil, nil
		}
		name := action.(clienttesting.CreateActionImpl).Name
		restarted = append(restarted, name)
		if name == "mail" {
			return true, nil, apierrors.NewConflict(boxResource, name, fmt.Errorf("it is paused"))
		}
		return true, &modelv1.ModelBoxRestart{}, nil
	})
	return &restarted
}

func TestDeletionRestartsBoxes(t *testing.T) {
	restartedBefore := newPod("db-0", 1, debugged(), ofBox("db"))
	f := newTestController(t, newDebugger(restarting, protected, deleted),
		newPod("web-0", 1, debugged(), ofBox("web")), newPod("web-1", 1, debugged(), ofBox("web")), restartedBefore,
		newPod("mail-0", 1, debugged(), ofBox("mail")), newPod("bare", 1, debugged()), newPod("late", 1), newPod("cache-0", 1, ofBox("cache")))
	for _, name := range []string{"web", "db", "mail", "cache"} {
		f.createBox(name)
	}
	db, err := f.models.ModelV1().ModelBoxes(toolsKey.Namespace).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	db.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		modelv1.RestartedAtAnnotation: created.Add(time.Hour).Format(time.RFC3339),
	}}}
	if _, err := f.models.ModelV1().ModelBoxes(toolsKey.Namespace).Update(t.Context(), db, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	restarted := f.recordRestarts()
	f.reconcile(7, 5)
	check(t, "restarted boxes", []string{"mail", "web"}, *restarted)
	check(t, "requests for pods", []string(nil), f.patched())
	check(t, "finalizers", 0, len(f.debugger().Finalizers))
	check(t, "events", []string{
		`Warning BoxNotRestarted the pods of the box mail keep the container: Operation cannot be fulfilled on modelboxes.model.github.com "mail": it is paused`,
		"Normal BoxRestarted restarted the box web, whose pods had the container",
	}, f.told())
}
