// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// rolloutTest is a controller in a cluster whose workloads are rolled out as far as a test says.
type rolloutTest struct {
	*testController
	clock    *clocktesting.FakePassiveClock
	kind     modelv1.Workload
	revision int64
	template string
}

// newRolloutTest returns a box of a workload of that kind and with that policy, whose first rollout is complete.
func newRolloutTest(t *testing.T, kind modelv1.Workload, policy modelv1.RolloutFailurePolicy, changes ...func(*modelv1.ModelBox)) *rolloutTest {
	t.Helper()
	box := fixture.WebBox(t, append([]func(*modelv1.ModelBox){func(box *modelv1.ModelBox) {
		box.Spec.Workload, box.Spec.Image, box.Spec.Rollout = kind, "nginx:1", &modelv1.ModelBoxRollout{OnFailure: policy}
		box.Spec.Configs = []modelv1.ModelBoxConfig{{MountPath: "/etc/web", Data: map[string]string{"web.conf": "workers 1;"}}}
		if box.Spec.Replicas = ptr.To[int32](2); kind == modelv1.WorkloadDaemonSet {
			box.Spec.Replicas, box.Spec.RollingUpdate = nil, nil
		}
		if kind == modelv1.WorkloadStatefulSet {
			box.Spec.RollingUpdate = nil
		}
	}}, changes...)...)
	r := &rolloutTest{testController: newTestController(t, box), clock: clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second)), kind: kind}
	r.cluster.PrependReactor("patch", strings.ToLower(string(kind))+"s", r.countGeneration)
	r.startController(t)
	r.settle(t)
	r.complete(t)
	r.settle(t)
	r.told()
	if rollout := r.boxInServer(t).Status.Rollout; rollout.Phase != modelv1.RolloutComplete || rollout.Stable == nil {
		t.Fatalf("the first rollout is %+v", rollout)
	}
	return r
}

// startController gives the test another controller that knows nothing but what the servers have.
func (r *rolloutTest) startController(t *testing.T) {
	t.Helper()
	pods := []runtime.Object{}
	for _, pod := range r.pods.List() {
		pods = append(pods, pod.(*corev1.Pod))
	}
	lister := r.boxLister
	r.newController(t)
	r.boxLister, r.Controller.Clock = lister, r.clock
	r.cache(t, pods...)
	r.restart()
}

// countGeneration applies a patch, and counts changes of the spec as an API server does.
func (r *rolloutTest) countGeneration(action clienttesting.Action) (bool, runtime.Object, error) {
	tracker, name := r.cluster.Tracker(), action.(clienttesting.PatchAction).GetName()
	before, err := tracker.Get(action.GetResource(), action.GetNamespace(), name)
	isNew := err != nil
	_, after, err := clienttesting.ObjectReaction(tracker)(action)
	if err != nil {
		return true, nil, err
	}
	object := after.(metav1.Object)
	if isNew {
		object.SetUID("uid-of-" + types.UID(name))
	}
	if isNew || !apiequality.Semantic.DeepEqual(specOf(before), specOf(after)) {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	return true, after, tracker.Update(action.GetResource(), after, action.GetNamespace())
}

func specOf(object runtime.Object) any {
	switch object := object.(type) {
	case *appsv1.Deployment:
		return object.Spec
	case *appsv1.StatefulSet:
		return object.Spec
	case *batchv1.Job:
		return object.Spec
	case *batchv1.CronJob:
		return object.Spec
	default:
		return object.(*appsv1.DaemonSet).Spec
	}
}

// settle reconciles until there is nothing left to write.
func (r *rolloutTest) settle(t *testing.T) []string {
	t.Helper()
	var all []string
	for range 10 {
		r.catchUp(t)
		r.mustReconcile(t)
		requests := slices.DeleteFunc(r.requests(), func(request string) bool {
			return strings.HasPrefix(request, "get ") || strings.HasPrefix(request, "list ")
		})
		if len(requests) == 0 {
			return all
		}
		all = append(all, requests...)
	}
	t.Fatalf("the controller does not come to rest: %q", all)
	return nil
}

// liveWorkload returns the workload in the cluster.
func (r *rolloutTest) liveWorkload(t *testing.T) kinds.Workload {
	t.Helper()
	object, err := r.rollouts.GetWorkload(t.Context(), r.boxInServer(t))
	if err != nil || object == nil {
		t.Fatal(object, err)
	}
	return kinds.AsWorkload(object.(interface {
		metav1.Object
		runtime.Object
	}))
}

// observe lets the controller of the workload see its spec, and returns the workload and the hash of its template.
func (r *rolloutTest) observe(t *testing.T) (kinds.Workload, string) {
	t.Helper()
	workload := r.liveWorkload(t)
	data, err := json.Marshal(workload.PodTemplate())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:4])
	if hash != r.template {
		r.template, r.revision = hash, r.revision+1
	}
	annotations := workload.GetAnnotations()
	switch workload := workload.(type) {
	case kinds.Deployment:
		annotations[kinds.DeploymentRevision] = strconv.FormatInt(r.revision, 10)
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + hash, Namespace: workload.Namespace, UID: types.UID("uid-of-" + hash), Labels: map[string]string{modelv1.SelectorLabel: "web"},
			Annotations:     map[string]string{kinds.DeploymentRevision: annotations[kinds.DeploymentRevision]},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", Name: "web", UID: workload.UID, Controller: ptr.To(true)}},
		}}
		_ = r.cluster.Tracker().Delete(appsv1.SchemeGroupVersion.WithResource("replicasets"), set.Namespace, set.Name)
		if err := r.cluster.Tracker().Add(set); err != nil {
			t.Fatal(err)
		}
		workload.Status.ObservedGeneration = workload.Generation
	case kinds.StatefulSet:
		workload.Status.ObservedGeneration, workload.Status.UpdateRevision = workload.Generation, "web-"+hash
	case kinds.DaemonSet:
		annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(r.revision, 10)
		workload.Status.ObservedGeneration = workload.Generation
	}
	workload.SetAnnotations(annotations)
	return workload, hash
}

// report writes the status of the workload.
func (r *rolloutTest) report(t *testing.T, workload kinds.Workload, updated, unavailable int32, exceeded bool) {
	t.Helper()
	var object runtime.Object
	switch workload := workload.(type) {
	case kinds.Deployment:
		progressing := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated"}
		if exceeded {
			progressing.Status, progressing.Reason, progressing.LastUpdateTime = corev1.ConditionFalse, "ProgressDeadlineExceeded", metav1.NewTime(r.clock.Now())
		}
		workload.Status.Replicas, workload.Status.UpdatedReplicas = 2+unavailable, updated
		workload.Status.ReadyReplicas, workload.Status.AvailableReplicas = 2, 2
		workload.Status.Conditions = []appsv1.DeploymentCondition{progressing, {Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
		object = workload.Deployment
	case kinds.StatefulSet:
		workload.Status.Replicas, workload.Status.UpdatedReplicas = 2, updated
		workload.Status.ReadyReplicas, workload.Status.AvailableReplicas = 2-unavailable, 2-unavailable
		object = workload.StatefulSet
	case kinds.DaemonSet:
		workload.Status.DesiredNumberScheduled, workload.Status.CurrentNumberScheduled, workload.Status.UpdatedNumberScheduled = 2, 2, updated
		workload.Status.NumberReady, workload.Status.NumberAvailable = 2-unavailable, 2-unavailable
		object = workload.DaemonSet
	}
	resource := appsv1.SchemeGroupVersion.WithResource(strings.ToLower(string(r.kind)) + "s")
	if err := r.cluster.Tracker().Update(resource, object, workload.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

// complete makes all pods the pods of the workload as it is, and ready.
func (r *rolloutTest) complete(t *testing.T) {
	t.Helper()
	workload, hash := r.observe(t)
	r.replacePods(t, r.newPod(workload, hash, 0), r.newPod(workload, hash, 1))
	r.report(t, workload, 2, 0, false)
}

// rollOut lets the last pod be replaced, which then is as it is made by fail; nil leaves it not ready.
func (r *rolloutTest) rollOut(t *testing.T, fail func(*corev1.Pod), exceeded bool) {
	t.Helper()
	workload, hash := r.observe(t)
	pod := r.newPod(workload, hash, 1)
	pod.Status.Conditions[0].Status = corev1.ConditionFalse
	if fail != nil {
		fail(pod)
	}
	pods := r.pods.List()
	first := slices.IndexFunc(pods, func(pod any) bool { return strings.HasSuffix(pod.(*corev1.Pod).Name, "-0") })
	r.replacePods(t, pods[first].(*corev1.Pod), pod)
	r.report(t, workload, 1, 1, exceeded)
}

func (r *rolloutTest) replacePods(t *testing.T, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range r.pods.List() {
		_ = r.cluster.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "default", pod.(*corev1.Pod).Name)
		if err := r.pods.Delete(pod); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		if err := r.cluster.Tracker().Add(pod); err != nil {
			t.Fatal(err)
		}
		r.cache(t, pod)
	}
}

// newPod returns a pod of the workload that has been ready for a minute.
func (r *rolloutTest) newPod(workload kinds.Workload, hash string, ordinal int) *corev1.Pod {
	owner := metav1.OwnerReference{Kind: workload.KindName(), Name: "web", UID: workload.GetUID(), Controller: ptr.To(true)}
	labels, name := map[string]string{modelv1.SelectorLabel: "web"}, fmt.Sprintf("web-%s-%d", hash, ordinal)
	switch workload.(type) {
	case kinds.Deployment:
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		owner.Kind, owner.Name, owner.UID = "ReplicaSet", "web-"+hash, types.UID("uid-of-"+hash)
	case kinds.StatefulSet:
		labels[appsv1.StatefulSetRevisionLabel], name = "web-"+hash, fmt.Sprintf("web-%d", ordinal)
		labels[appsv1.StatefulSetPodNameLabel] = name
	default:
		labels[appsv1.DefaultDaemonSetUniqueLabelKey], labels[rollouts.TemplateGenerationLabel] = hash, strconv.FormatInt(r.revision, 10)
	}
	since := metav1.NewTime(r.clock.Now().Add(-time.Minute))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name + "/" + hash), ResourceVersion: "1", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{owner}, CreationTimestamp: metav1.NewTime(r.clock.Now())},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since},
		}},
	}
}

// changeBox changes the box, as a new generation.
func (r *rolloutTest) changeBox(t *testing.T, change func(*modelv1.ModelBoxSpec)) {
	t.Helper()
	r.update(t, func(box *modelv1.ModelBox) {
		change(&box.Spec)
		box.Generation++
	})
}

// badVersion is another image and another file.
func badVersion(spec *modelv1.ModelBoxSpec) {
	spec.Image = "nginx:bad"
	spec.Configs[0].Data = map[string]string{"web.conf": "workers none;"}
}

func (r *rolloutTest) retry(t *testing.T) {
	t.Helper()
	r.update(t, func(box *modelv1.ModelBox) {
		rollout := box.Status.Rollout
		rollout.Phase, rollout.StartedAt, rollout.Reason, rollout.Message = modelv1.RolloutProgressing, metav1.NewTime(r.clock.Now()), "", ""
	})
}

// step moves the clock.
func (r *rolloutTest) step(d time.Duration) { r.clock.SetTime(r.clock.Now().Add(d)) }

// version returns the image and the file that pods are made of.
func (r *rolloutTest) version(t *testing.T) string {
	t.Helper()
	containers := r.liveWorkload(t).PodTemplate().Spec.Containers
	return containers[0].Image + " " + r.configMap(t, "web").Data["web.conf"]
}

func (r *rolloutTest) rollout(t *testing.T) *modelv1.ModelBoxRolloutStatus {
	t.Helper()
	return r.boxInServer(t).Status.Rollout
}

// toldOf returns the events with the reason.
func toldOf(events []string, reason string) (told []string) {
	for _, event := range events {
		if words := strings.Fields(event); words[1] == reason {
			told = append(told, event)
		}
	}
	return told
}

const (
	goodVersion = "nginx:1 workers 1;"
	newVersion  = "nginx:bad workers none;"
)

var (
	workloadKinds = []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet}

	crashLoop = func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 3,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
	}
	badImage = waiting("app", "ImagePullBackOff", "Back-off pulling image")
)

func TestFailedRollouts(t *testing.T) {
	for _, failure := range []struct {
		name     string
		fail     func(*corev1.Pod)
		deadline bool
		reason   string
	}{
		{"a bad image", badImage, false, "ImagePullBackOff"},
		{"a crash at start", crashLoop, false, "CrashLoopBackOff"},
		{"a missing config", waiting("app", "CreateContainerConfigError", `configmap "other" not found`), false, "CreateContainerConfigError"},
		{"a missed deadline", nil, true, modelv1.ReasonProgressDeadlineExceeded},
	} {
		for _, kind := range workloadKinds {
			for _, policy := range []modelv1.RolloutFailurePolicy{modelv1.RolloutFailureNone, modelv1.RolloutFailurePause, modelv1.RolloutFailureRollback} {
				t.Run(fmt.Sprintf("%s of a %s, %s", failure.name, kind, policy), func(t *testing.T) {
					r := newRolloutTest(t, kind, policy)
					r.changeBox(t, badVersion)
					r.settle(t)
					check(t, "phase at the start", modelv1.RolloutProgressing, r.rollout(t).Phase)
					check(t, "version at the start", newVersion, r.version(t))
					r.rollOut(t, failure.fail, false)
					r.settle(t)
					if failure.deadline {
						check(t, "phase before the deadline", modelv1.RolloutProgressing, r.rollout(t).Phase)
						r.step(helper.DefaultProgressDeadline)
						r.rollOut(t, nil, true)
						r.settle(t)
					}
					rollout := r.rollout(t)
					check(t, "reason", failure.reason, rollout.Reason)
					check(t, "failed revision", failure.reason, rollout.FailedRevisions[0].Reason)
					check(t, "events", 1, len(toldOf(r.told(), "RolloutFailed")))
					r.expectFailed(t, policy)
					r.startController(t)
					check(t, "writes of another controller", []string(nil), r.settle(t))
				})
			}
		}
	}
}

// expectFailed checks what becomes of a rollout that has failed.
func (r *rolloutTest) expectFailed(t *testing.T, policy modelv1.RolloutFailurePolicy) {
	t.Helper()
	record, err := modelboxrender.ReadRecord(r.liveWorkload(t).GetAnnotations()[modelv1.RecordAnnotation])
	if err != nil || record.Spec.Image != "nginx:bad" {
		t.Errorf("the record has %v, %v", record, err)
	}
	status := r.boxInServer(t).Status
	if !meta.IsStatusConditionTrue(status.Conditions, modelv1.ConditionStalled) || meta.IsStatusConditionTrue(status.Conditions, modelv1.ConditionReady) {
		t.Errorf("conditions: %+v", status.Conditions)
	}
	isHalted := false
	switch workload := r.liveWorkload(t).(type) {
	case kinds.Deployment:
		isHalted = workload.Spec.Paused
	case kinds.StatefulSet:
		rollingUpdate := workload.Spec.UpdateStrategy.RollingUpdate
		isHalted = rollingUpdate != nil && ptr.Deref(rollingUpdate.Partition, 0) == math.MaxInt32
	case kinds.DaemonSet:
		isHalted = workload.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	}
	check(t, "halted", policy == modelv1.RolloutFailurePause, isHalted)
	switch policy {
	case modelv1.RolloutFailureRollback:
		r.expectRollback(t)
	case modelv1.RolloutFailurePause:
		check(t, "phase", modelv1.RolloutPaused, status.Rollout.Phase)
		check(t, "version", newVersion, r.version(t))
	default:
		check(t, "phase", modelv1.RolloutFailed, status.Rollout.Phase)
		check(t, "version", newVersion, r.version(t))
	}
}

// expectRollback checks that the box is rolled back, and lets its pods be.
func (r *rolloutTest) expectRollback(t *testing.T) {
	t.Helper()
	check(t, "phase", modelv1.RolloutRolledBack, r.rollout(t).Phase)
	check(t, "version", goodVersion, r.version(t))
	if image := r.boxInServer(t).Spec.Image; image == "nginx:1" {
		t.Errorf("the spec has image %s", image)
	}
	workload, _ := r.observe(t)
	r.report(t, workload, 1, 1, false)
	isDeleted := slices.Contains(r.settleUntilDeletion(t), "delete pods web-1")
	check(t, "the pod in the way is deleted", r.kind == modelv1.WorkloadStatefulSet, isDeleted)
	r.complete(t)
	r.settle(t)
	check(t, "ready", "False RolledBack", r.status(t).ready)
	check(t, "progressing", "False RolledBack", r.status(t).progressing)
	check(t, "events", 1, len(toldOf(r.told(), "RolledBack")))
}

// settleUntilDeletion is settle, in which a pod that is deleted is gone.
func (r *rolloutTest) settleUntilDeletion(t *testing.T) []string {
	t.Helper()
	r.cluster.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		for _, pod := range r.pods.List() {
			if pod := pod.(*corev1.Pod); pod.Name == action.(clienttesting.DeleteAction).GetName() {
				preconditions := action.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
				check(t, "preconditions", &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}, preconditions)
				return false, nil, r.pods.Delete(pod)
			}
		}
		return false, nil, nil
	})
	return r.settle(t)
}

// newRolledBackTest returns a box that is rolled back.
func newRolledBackTest(t *testing.T, kind modelv1.Workload, changes ...func(*modelv1.ModelBox)) *rolloutTest {
	t.Helper()
	r := newRolloutTest(t, kind, modelv1.RolloutFailureRollback, changes...)
	r.changeBox(t, badVersion)
	r.settle(t)
	r.rollOut(t, badImage, false)
	r.settle(t)
	r.expectRollback(t)
	return r
}

func TestRolledBackBoxGetsItsPodsAgain(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, r *rolloutTest)
		want   string
	}{
		{"another version", func(t *testing.T, r *rolloutTest) {
			r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:2" })
		}, "nginx:2 workers none;"},
		{"the former version", func(t *testing.T, r *rolloutTest) {
			r.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
				spec.Image, spec.Configs[0].Data = "nginx:1", map[string]string{"web.conf": "workers 1;"}
			})
		}, goodVersion},
		{"a retry", func(t *testing.T, r *rolloutTest) { r.retry(t) }, newVersion},
		{"a box that no longer asks for a rollback", func(t *testing.T, r *rolloutTest) {
			r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Rollout = nil })
		}, newVersion},
	} {
		for _, kind := range workloadKinds {
			t.Run(fmt.Sprintf("%s of a %s", row.name, kind), func(t *testing.T) {
				r := newRolledBackTest(t, kind)
				row.change(t, r)
				r.settle(t)
				check(t, "version", row.want, r.version(t))
				r.complete(t)
				r.settle(t)
				check(t, "ready", "True Ready", r.status(t).ready)
				if rollout := r.rollout(t); rollout != nil {
					check(t, "phase", modelv1.RolloutComplete, rollout.Phase)
					check(t, "stable", rollout.PodsHash, rollout.Stable.PodsHash)
				}
				if _, isThere := r.liveWorkload(t).GetAnnotations()[modelv1.StableRecordAnnotation]; isThere {
					t.Error("the workload has a record of the former version")
				}
			})
		}
	}
}

func TestRolloutThatFailsAgain(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, r *rolloutTest)
		failed int
	}{
		{"after a retry", func(t *testing.T, r *rolloutTest) { r.retry(t) }, 1},
		{"after another change", func(t *testing.T, r *rolloutTest) {
			r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:worse" })
		}, 2},
		{"after it was left alone", func(t *testing.T, r *rolloutTest) { r.step(time.Hour) }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRolledBackTest(t, modelv1.WorkloadDeployment)
			row.change(t, r)
			r.startController(t)
			r.settle(t)
			if r.rollout(t).Phase == modelv1.RolloutProgressing {
				r.step(2 * time.Second)
				r.rollOut(t, crashLoop, false)
				r.settle(t)
			}
			r.expectRollback(t)
			check(t, "failed revisions", row.failed, len(r.rollout(t).FailedRevisions))
		})
	}
}

// A rollout has its own deadline, whatever became of the one before.
func TestChangeAfterAMissedDeadline(t *testing.T) {
	for _, kind := range workloadKinds {
		for _, policy := range []modelv1.RolloutFailurePolicy{modelv1.RolloutFailureNone, modelv1.RolloutFailurePause} {
			t.Run(fmt.Sprintf("%s, %s", kind, policy), func(t *testing.T) {
				r := newRolloutTest(t, kind, policy)
				r.changeBox(t, badVersion)
				r.settle(t)
				r.rollOut(t, nil, false)
				r.settle(t)
				r.step(helper.DefaultProgressDeadline)
				r.rollOut(t, nil, true)
				r.settle(t)
				check(t, "phase has failed", true, r.rollout(t).Phase.HasFailed())
				r.step(2 * time.Second)
				r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:fixed" })
				r.settle(t)
				check(t, "phase after the change", modelv1.RolloutProgressing, r.rollout(t).Phase)
				r.complete(t)
				r.settle(t)
				check(t, "phase in the end", modelv1.RolloutComplete, r.rollout(t).Phase)
			})
		}
	}
}

func TestChangeWhileARolloutFails(t *testing.T) {
	r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback)
	r.changeBox(t, badVersion)
	r.settle(t)
	r.rollOut(t, nil, false)
	r.settle(t)
	r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:worse" })
	r.startController(t)
	r.settle(t)
	check(t, "version", "nginx:worse workers none;", r.version(t))
	r.rollOut(t, badImage, false)
	r.settle(t)
	r.expectRollback(t)
}

func TestChangesWhileRolledBack(t *testing.T) {
	r := newRolledBackTest(t, modelv1.WorkloadDeployment)
	r.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
		spec.Replicas, spec.Ports[1].NodePort, spec.MinReadySeconds = ptr.To[int32](5), 30011, ptr.To[int32](7)
	})
	r.settle(t)
	deployment := r.deployment(t)
	check(t, "replicas", int32(5), *deployment.Spec.Replicas)
	check(t, "time to be ready", int32(7), deployment.Spec.MinReadySeconds)
	check(t, "version", goodVersion, r.version(t))
	check(t, "phase", modelv1.RolloutRolledBack, r.rollout(t).Phase)
	service := r.service(t)
	if !slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool { return port.NodePort == 30011 }) {
		t.Errorf("the Service has the ports %v", service.Spec.Ports)
	}
}

// A user who may write workloads may not decide what runs.
func TestForgedStableRecordIsNotRendered(t *testing.T) {
	for _, annotation := range []string{modelv1.RecordAnnotation, modelv1.StableRecordAnnotation} {
		t.Run(annotation, func(t *testing.T) {
			r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback)
			forged := r.boxInServer(t)
			forged.Spec.Image = "nginx:forged"
			record, err := modelboxrender.Record(forged)
			if err != nil {
				t.Fatal(err)
			}
			r.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { d.Annotations[annotation] = record })
			r.changeBox(t, badVersion)
			r.startController(t)
			r.settle(t)
			r.rollOut(t, badImage, false)
			r.settle(t)
			if version := r.version(t); strings.Contains(version, "forged") {
				t.Errorf("the pods are %s", version)
			}
		})
	}
}

func TestRollbackThatIsNotPossible(t *testing.T) {
	withStorage := func(box *modelv1.ModelBox) {
		box.Spec.Storage = []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data", Retain: ptr.To(true)}}
	}
	for _, row := range []struct {
		name    string
		box     func(*modelv1.ModelBox)
		change  func(*modelv1.ModelBoxSpec)
		message string
	}{
		{"storage is taken out", withStorage, func(spec *modelv1.ModelBoxSpec) { spec.Storage = nil }, `storage "data" is no longer in the box`},
		{"a live config is taken out", func(box *modelv1.ModelBox) { box.Spec.Configs[0].Rollout = modelv1.ConfigRolloutLive },
			func(spec *modelv1.ModelBoxSpec) { spec.Configs[0].Rollout = modelv1.ConfigRolloutRestart }, `whose rollout was Live`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback, row.box)
			r.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
				badVersion(spec)
				row.change(spec)
			})
			r.settle(t)
			r.rollOut(t, badImage, false)
			r.settle(t)
			rollout := r.rollout(t)
			check(t, "phase", modelv1.RolloutFailed, rollout.Phase)
			if !strings.Contains(rollout.Message, rollouts.NotRolledBack) || !strings.Contains(rollout.Message, row.message) {
				t.Errorf("the message is %q", rollout.Message)
			}
		})
	}
}

func TestDeletedWorkloadOfARolledBackBox(t *testing.T) {
	r := newRolledBackTest(t, modelv1.WorkloadDeployment)
	if err := r.cluster.Tracker().Delete(appsv1.SchemeGroupVersion.WithResource("deployments"), "default", "web"); err != nil {
		t.Fatal(err)
	}
	r.settle(t)
	check(t, "version", goodVersion, r.version(t))
}

func TestStatusOfARolloutThatIsLost(t *testing.T) {
	for _, isRolledBack := range []bool{false, true} {
		t.Run(fmt.Sprint("rolled back: ", isRolledBack), func(t *testing.T) {
			r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback)
			r.changeBox(t, badVersion)
			r.settle(t)
			r.rollOut(t, badImage, false)
			if isRolledBack {
				r.settle(t)
			}
			r.update(t, func(box *modelv1.ModelBox) {
				box.Status = modelv1.ModelBoxStatus{Rollout: modelboxrender.RecordedRollout(r.deployment(t), box)}
			})
			r.startController(t)
			r.settle(t)
			r.expectRollback(t)
		})
	}
}

// A rollout that is tried again replaces pods that failed before.
func TestRetryOfARolloutThatWasLeftAsItWas(t *testing.T) {
	for _, kind := range workloadKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := newRolloutTest(t, kind, modelv1.RolloutFailureNone)
			r.changeBox(t, badVersion)
			r.settle(t)
			r.rollOut(t, badImage, false)
			r.settle(t)
			check(t, "phase", modelv1.RolloutFailed, r.rollout(t).Phase)
			r.step(time.Minute)
			r.retry(t)
			requests := r.settleUntilDeletion(t)
			if !slices.ContainsFunc(requests, func(request string) bool { return strings.HasPrefix(request, "delete pods web-") }) {
				t.Errorf("the requests are %q", requests)
			}
			check(t, "phase after a retry", modelv1.RolloutProgressing, r.rollout(t).Phase)
			r.complete(t)
			r.settle(t)
			check(t, "phase in the end", modelv1.RolloutComplete, r.rollout(t).Phase)
			check(t, "failed revisions", 0, len(r.rollout(t).FailedRevisions))
		})
	}
}

func TestPodsThatFailLaterAreOfNoRollout(t *testing.T) {
	r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback)
	r.rollOut(t, crashLoop, true)
	r.settle(t)
	check(t, "phase", modelv1.RolloutComplete, r.rollout(t).Phase)
}

func TestRolloutOfAPausedBox(t *testing.T) {
	r := newRolloutTest(t, modelv1.WorkloadDeployment, modelv1.RolloutFailureRollback)
	r.changeBox(t, badVersion)
	r.settle(t)
	r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	r.rollOut(t, badImage, false)
	r.settle(t)
	check(t, "phase", modelv1.RolloutProgressing, r.rollout(t).Phase)
	r.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
	r.settle(t)
	r.expectRollback(t)
}
