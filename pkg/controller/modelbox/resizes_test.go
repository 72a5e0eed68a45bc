// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// resizeTest is a box of four pods in a simulated cluster whose first rollout is complete.
type resizeTest struct {
	*stepsTest
	// first are the UIDs of its first pods.
	first []types.UID
	// resize is what a kubelet does when a pod is to be resized, and the API server if it returns an error. Nil: the pod is resized.
	resize func(pod *corev1.Pod) error
	// resized are the names of the pods that were to be resized.
	resized []string
	// ran are the images of the Jobs that have run.
	ran []string
}

func newResizeTest(t *testing.T, mode modelv1.ResizeMode, changes ...func(*modelv1.ModelBox)) *resizeTest {
	t.Helper()
	changes = append([]func(*modelv1.ModelBox){withoutRollout, resizing(mode), func(box *modelv1.ModelBox) { setMemory("64Mi")(&box.Spec) }}, changes...)
	s := &resizeTest{stepsTest: newUnstartedStepsTest(t, modelv1.RolloutCanary, []modelv1.ModelBoxRolloutStep{{Weight: 50}}, changes...)}
	s.runJob = func(_ *testing.T, job *batchv1.Job) bool {
		s.ran = append(s.ran, job.Spec.Template.Spec.Containers[0].Image)
		return true
	}
	s.cluster.PrependReactor("update", "pods", s.resizePod)
	s.run(t)
	s.step(time.Minute) // so that the pods are available
	s.run(t)
	s.told()
	s.ran = nil
	for _, pod := range s.pods(t) {
		s.first = append(s.first, pod.UID)
	}
	check(t, "pods", 4, len(s.first))
	if s.serving = 4; s.rolloutTest.kind != modelv1.WorkloadDeployment {
		s.serving = 3 // A rollout replaces one pod after the other.
	}
	return s
}

func (s *resizeTest) resizePod(action clienttesting.Action) (bool, runtime.Object, error) {
	pod := action.(clienttesting.UpdateAction).GetObject().(*corev1.Pod)
	if action.GetSubresource() != "resize" {
		return false, nil, nil
	}
	s.resized = append(s.resized, pod.Name)
	pod.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
	if s.resize != nil {
		if err := s.resize(pod); err != nil {
			return true, nil, err
		}
	}
	return false, nil, nil
}

func withoutRollout(box *modelv1.ModelBox) { box.Spec.Rollout = nil }

func inSteps(box *modelv1.ModelBox) {
	box.Spec.Rollout = &modelv1.ModelBoxRollout{
		Type: ptr.To(modelv1.RolloutCanary), Steps: []modelv1.ModelBoxRolloutStep{{Weight: 50}}, OnFailure: modelv1.RolloutFailureRollback,
	}
}

func resizing(mode modelv1.ResizeMode) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Spec.Resize = &modelv1.ModelBoxResize{Mode: mode} }
}

func setMemory(memory string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
		}
	}
}

// pending returns a kubelet that does not resize pods, for the reason.
func pending(reason string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, Message: "Node didn't have enough memory",
		})
		return nil
	}
}

// memory returns the limits of the pods, and of the templates of the workload and of the ReplicaSets with pods.
func (s *resizeTest) memory(t *testing.T) string {
	t.Helper()
	limit := func(spec *corev1.PodSpec) string { return spec.Containers[0].Resources.Limits.Memory().String() }
	templates := []string{limit(&s.liveWorkload(t).PodTemplate().Spec)}
	for _, set := range simulated[appsv1.ReplicaSet](t, s.simulation, replicaSets, "ReplicaSet") {
		if *set.Spec.Replicas > 0 {
			templates = append(templates, limit(&set.Spec.Template.Spec))
		}
	}
	var pods []string
	for _, pod := range s.pods(t) {
		pods = append(pods, limit(&pod.Spec))
	}
	return fmt.Sprintf("templates %s, pods %s", strings.Join(slices.Compact(templates), " "), strings.Join(pods, " "))
}

// expectNotHalted checks that the workload updates its pods.
func (s *resizeTest) expectNotHalted(t *testing.T) {
	t.Helper()
	isHalted := false
	switch workload := s.liveWorkload(t).(type) {
	case kinds.Deployment:
		isHalted = workload.Spec.Paused
	case kinds.StatefulSet:
		rollingUpdate := workload.Spec.UpdateStrategy.RollingUpdate
		isHalted = rollingUpdate != nil && ptr.Deref(rollingUpdate.Partition, 0) > 0
	case kinds.DaemonSet:
		isHalted = workload.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	}
	check(t, "halted", false, isHalted)
}

// keptPods returns how many of the first pods there are.
func (s *resizeTest) keptPods(t *testing.T) (kept int) {
	t.Helper()
	for _, pod := range s.pods(t) {
		if slices.Contains(s.first, pod.UID) {
			kept++
		}
	}
	return kept
}

// expectResized checks that the box is Ready with its first pods, all of which have the limit, and that nothing is left of a resize.
func (s *resizeTest) expectResized(t *testing.T, memory string) {
	t.Helper()
	check(t, "memory", fmt.Sprintf("templates %[1]s, pods %[1]s %[1]s %[1]s %[1]s", memory), s.memory(t))
	check(t, "pods of before", 4, s.keptPods(t))
	s.expectSettled(t)
}

// expectReplaced checks that the box is Ready with other pods, all of which have the limit.
func (s *resizeTest) expectReplaced(t *testing.T, memory string) {
	t.Helper()
	check(t, "memory", fmt.Sprintf("templates %[1]s, pods %[1]s %[1]s %[1]s %[1]s", memory), s.memory(t))
	check(t, "pods of before", 0, s.keptPods(t))
	s.expectSettled(t)
}

func (s *resizeTest) expectSettled(t *testing.T) {
	t.Helper()
	box := s.boxInServer(t)
	check(t, "ready", "True Ready", s.status(t).ready)
	check(t, "resize", (*modelv1.ModelBoxResizeStatus)(nil), box.Status.Resize)
	s.expectNotHalted(t)
	if box.Spec.Rollout == nil {
		return
	}
	hash, err := modelboxrender.PodsHash(box)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "phase", modelv1.RolloutComplete, s.rollout(t).Phase)
	check(t, "pods of the rollout", hash, s.rollout(t).PodsHash)
	check(t, "stable pods", hash, s.rollout(t).Stable.PodsHash)
	if candidate := s.candidate(t); candidate != nil {
		t.Errorf("there is a candidate: %s", s.describe(t))
	}
}

type resizableBox struct {
	name    string
	changes []func(*modelv1.ModelBox)
}

var resizableBoxes = []resizableBox{
	{"without a rollout", nil},
	{"in steps", []func(*modelv1.ModelBox){inSteps}},
	{"in steps with a route", []func(*modelv1.ModelBox){inSteps, routed}},
	{"with Jobs", []func(*modelv1.ModelBox){inSteps, withBefore, withAfter}},
	{"StatefulSet", []func(*modelv1.ModelBox){stateful}},
	{"StatefulSet in steps", []func(*modelv1.ModelBox){stateful, inSteps}},
	{"DaemonSet", []func(*modelv1.ModelBox){daemonic}},
	{"DaemonSet in steps", []func(*modelv1.ModelBox){daemonic, inSteps}},
}

// variedBoxes are the boxes of resizableBoxes that differ most.
var variedBoxes = []resizableBox{resizableBoxes[3], resizableBoxes[4], resizableBoxes[6]}

func TestResizeInPlace(t *testing.T) {
	for _, row := range resizableBoxes {
		t.Run(row.name, func(t *testing.T) {
			s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart, row.changes...)
			s.changeBox(t, setMemory("128Mi"))
			s.runToTheEnd(t)
			s.expectResized(t, "128Mi")
			check(t, "Jobs", 0, len(s.ran))
			check(t, "resized pods", 4, len(s.resized))
			told := s.told()
			for _, reason := range []string{"Resizing", "Resized"} {
				check(t, reason, 1, len(toldOf(told, reason)))
			}
			check(t, "rollouts", 0, len(toldOf(told, "RolloutComplete")))

			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.expectReplaced(t, "128Mi")
		})
	}
}

// TestResizeOfAFewPodsAtATime checks that the next pod is resized when the one before it is done and ready.
func TestResizeOfAFewPodsAtATime(t *testing.T) {
	s := newResizeTest(t, modelv1.ResizeInPlaceOnly)
	s.serving = 3
	s.resize = func(pod *corev1.Pod) error {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue})
		return nil
	}
	s.changeBox(t, setMemory("128Mi"))
	for want := 1; want <= 4; want++ {
		s.runFor(t, 10*time.Second)
		check(t, "resized pods", want, len(s.resized))
		s.expectReason(t, modelv1.ReasonProgressing, fmt.Sprintf("%d of 4 replicas resized in place", want-1))
		pod := s.pod(t, s.resized[want-1])
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
		s.simulation.update(t, pods, pod)
		s.reconcileOnce(t)
		check(t, "resized pods while one is not ready", want, len(s.resized))
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		s.simulation.update(t, pods, pod)
	}
	s.runToTheEnd(t)
	s.expectResized(t, "128Mi")
}

// pod returns the pod of that name.
func (s *resizeTest) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	all := s.pods(t)
	return all[slices.IndexFunc(all, func(pod *corev1.Pod) bool { return pod.Name == name })]
}

// condition returns a condition of the box, an empty one if it has none of the type.
func (s *resizeTest) condition(t *testing.T, conditionType string) metav1.Condition {
	t.Helper()
	return ptr.Deref(meta.FindStatusCondition(s.boxInServer(t).Status.Conditions, conditionType), metav1.Condition{})
}

// expectReason checks why the box is not Ready.
func (s *resizeTest) expectReason(t *testing.T, reason, message string) {
	t.Helper()
	status := s.status(t)
	check(t, "ready", "False "+reason, status.ready)
	if got := s.condition(t, modelv1.ConditionReady).Message; !strings.Contains(got, message) {
		t.Errorf("the message is %q, want %q", got, message)
	}
}

func TestResizeThatIsNotPossible(t *testing.T) {
	invalid := func(*corev1.Pod) error {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "web", nil)
	}
	notServed := func(*corev1.Pod) error {
		return apierrors.NewGenericServerResponse(404, "put", corev1.Resource("pods"), "web", "404 page not found", 0, true)
	}
	tooSmall := func(*corev1.Pod) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("node didn't have enough allocatable resources: memory"))
	}
	guaranteed := func(spec *modelv1.ModelBoxSpec) {
		setMemory("128Mi")(spec)
		spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("100m")
	}
	for _, row := range []struct {
		name    string
		resize  func(*corev1.Pod) error
		change  func(*modelv1.ModelBoxSpec)
		message string
	}{
		{"node that is too small", pending(corev1.PodReasonInfeasible), setMemory("128Mi"), "Node didn't have enough memory"},
		{"pod that the API refuses", invalid, setMemory("128Mi"), "is invalid"},
		{"node that the API finds too small", tooSmall, setMemory("128Mi"), "node didn't have enough allocatable resources"},
		{"cluster without the subresource", notServed, setMemory("128Mi"), "does not serve pods/resize"},
		{"another QoS class", nil, guaranteed, "QoS class of the pods would change from Burstable to Guaranteed"},
	} {
		for _, box := range variedBoxes {
			t.Run(row.name+", box "+box.name, func(t *testing.T) {
				s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart, box.changes...)
				s.resize = row.resize
				s.changeBox(t, row.change)
				s.runToTheEnd(t)
				s.expectReplaced(t, "128Mi")
				if len(s.resized) > 1 {
					t.Errorf("pods were to be resized after one could not be: %q", s.resized)
				}
			})
		}
		t.Run(row.name+", in place only", func(t *testing.T) {
			s := newResizeTest(t, modelv1.ResizeInPlaceOnly, inSteps)
			s.resize = row.resize
			s.changeBox(t, row.change)
			s.runFor(t, 10*time.Second)
			s.expectReason(t, modelv1.ReasonResizeInfeasible, row.message)
			check(t, "stalled", modelv1.ReasonResizeInfeasible, s.condition(t, modelv1.ConditionStalled).Reason)
			check(t, "pods of before", 4, s.keptPods(t))
			s.changeBox(t, setMemory("64Mi"))
			s.resize = nil
			s.runToTheEnd(t)
			s.expectResized(t, "64Mi")
		})
	}
}

func TestResizeThatWaits(t *testing.T) {
	quota := func(*corev1.Pod) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("exceeded quota: memory"))
	}
	for name, resize := range map[string]func(*corev1.Pod) error{"node": pending(corev1.PodReasonDeferred), "quota": quota} {
		t.Run(name, func(t *testing.T) {
			s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart)
			s.resize = resize
			s.changeBox(t, setMemory("128Mi"))
			s.runFor(t, 4*time.Minute)
			s.expectReason(t, modelv1.ReasonResizeDeferred, "memory")
			check(t, "pods of before", 4, s.keptPods(t))
			s.runFor(t, 2*time.Minute)
			s.runToTheEnd(t)
			s.expectReplaced(t, "128Mi")
			check(t, "event", 1, len(toldOf(s.told(), "ResizeFailed")))
		})
		t.Run(name+", in place only", func(t *testing.T) {
			s := newResizeTest(t, modelv1.ResizeInPlaceOnly)
			s.resize = resize
			s.changeBox(t, setMemory("128Mi"))
			s.runFor(t, time.Hour)
			s.expectReason(t, modelv1.ReasonResizeDeferred, "memory")
			s.resize = nil
			for _, pod := range s.pods(t) {
				pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
				s.simulation.update(t, pods, pod)
			}
			s.runFor(t, time.Minute)
			s.expectResized(t, "128Mi")
		})
	}
}

// TestChangesInTheMiddleOfAResize changes a box after every other number of steps of a resize.
func TestChangesInTheMiddleOfAResize(t *testing.T) {
	plain := resizableBoxes[:1]
	for _, row := range []struct {
		name   string
		boxes  []resizableBox
		change func(*modelv1.ModelBoxSpec)
		expect func(s *resizeTest, t *testing.T)
	}{
		{"reverted", variedBoxes, setMemory("64Mi"), func(s *resizeTest, t *testing.T) { s.expectResized(t, "64Mi") }},
		{"more memory", variedBoxes, setMemory("256Mi"), func(s *resizeTest, t *testing.T) { s.expectResized(t, "256Mi") }},
		{"in place only", plain, func(spec *modelv1.ModelBoxSpec) { spec.Resize.Mode = modelv1.ResizeInPlaceOnly }, func(s *resizeTest, t *testing.T) { s.expectResized(t, "128Mi") }},
		{"another image", variedBoxes[:1], image("nginx:2"), func(s *resizeTest, t *testing.T) { s.expectReplaced(t, "128Mi") }},
		{"restart", plain, func(spec *modelv1.ModelBoxSpec) { spec.Resize.Mode = modelv1.ResizeRestart }, func(s *resizeTest, t *testing.T) {
			check(t, "memory", "templates 128Mi, pods 128Mi 128Mi 128Mi 128Mi", s.memory(t))
			s.expectSettled(t)
		}},
		{"another pod", plain, func(spec *modelv1.ModelBoxSpec) { spec.Replicas = ptr.To[int32](5) }, func(s *resizeTest, t *testing.T) {
			check(t, "memory", "templates 128Mi, pods 128Mi 128Mi 128Mi 128Mi 128Mi", s.memory(t))
			check(t, "pods of before", 4, s.keptPods(t))
			s.expectSettled(t)
		}},
		{"no pods", plain, func(spec *modelv1.ModelBoxSpec) { spec.Replicas = ptr.To[int32](0) }, func(s *resizeTest, t *testing.T) {
			check(t, "ready", "True Stopped", s.status(t).ready)
			check(t, "resize", (*modelv1.ModelBoxResizeStatus)(nil), s.boxInServer(t).Status.Resize)
			s.expectNotHalted(t)
		}},
	} {
		for i, box := range row.boxes {
			for after := i % 2; ; after += 2 {
				isOver := false
				t.Run(fmt.Sprintf("%s after %d steps, box %s", row.name, after, box.name), func(t *testing.T) {
					s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart, box.changes...)
					s.changeBox(t, setMemory("128Mi"))
					for range after {
						s.work(t)
						s.reconcileOnce(t)
					}
					isOver = after > 0 && s.boxInServer(t).Status.Resize == nil
					if row.name == "no pods" {
						s.serving = 0
					}
					s.changeBox(t, row.change)
					s.runToTheEnd(t)
					row.expect(s, t)
				})
				if isOver {
					break
				}
			}
		}
	}
}

// TestKilledControllerKeepsResizes kills the controller before or after each write of a resize.
func TestKilledControllerKeepsResizes(t *testing.T) {
	for i, box := range variedBoxes {
		play := func(t *testing.T, write int, isAfter bool) killer {
			s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart, box.changes...)
			killer := s.killAt(write, isAfter)
			s.changeBox(t, setMemory("128Mi"))
			s.runToTheEnd(t)
			s.expectResized(t, "128Mi")
			return *killer
		}
		unkilled := play(t, 0, false)
		for write := 1; write <= unkilled.writes; write++ {
			isAfter := (write+i)%2 == 0
			t.Run(fmt.Sprintf("box %s, write %d of %d, after it: %t", box.name, write, unkilled.writes, isAfter), func(t *testing.T) {
				killed := play(t, write, isAfter)
				check(t, "killed", true, killed.hasKilled)
				if killed.childWrites > unkilled.childWrites {
					t.Errorf("children were written %d times, want at most %d", killed.childWrites, unkilled.childWrites)
				}
			})
		}
	}
}

func TestResizeOfAPausedBox(t *testing.T) {
	s := newResizeTest(t, modelv1.ResizeInPlaceOnly)
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
		spec.Paused = true
		setMemory("128Mi")(spec)
	})
	s.runToTheEnd(t)
	check(t, "memory", "templates 64Mi, pods 64Mi 64Mi 64Mi 64Mi", s.memory(t))
	check(t, "ready", "False Paused", s.status(t).ready)
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
	s.runToTheEnd(t)
	s.expectResized(t, "128Mi")
}

// TestChangedResourcesOfTheWorkload changes the resources of the Deployment, which replaces its pods, as another client does. They are
// restored like any other field.
func TestChangedResourcesOfTheWorkload(t *testing.T) {
	s := newResizeTest(t, modelv1.ResizeInPlaceOnly, inSteps)
	deployment := s.deployment(t)
	deployment.Spec.Template.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("32Mi")
	deployment.Generation++
	s.simulation.update(t, deployments, deployment)
	for s.work(t) {
	}
	check(t, "memory", "templates 32Mi, pods 32Mi 32Mi 32Mi 32Mi", s.memory(t))
	s.runToTheEnd(t)
	s.expectReplaced(t, "64Mi")
	check(t, "resized pods", 0, len(s.resized))
}

// TestResizeThatTheClusterChanges resizes the pods of a box whose Deployment gets less memory than the box asks for, from a webhook for
// example. The Deployment replaces the pods.
func TestResizeThatTheClusterChanges(t *testing.T) {
	s := newResizeTest(t, modelv1.ResizeInPlaceOnly)
	mutate := func(action clienttesting.Action) (bool, runtime.Object, error) {
		isHandled, object, err := s.simulation.apply(action)
		deployment, isDeployment := object.(*appsv1.Deployment)
		if err != nil || !isDeployment {
			return isHandled, object, err
		}
		limits := deployment.Spec.Template.Spec.Containers[0].Resources.Limits
		if most := resource.MustParse("100Mi"); limits.Memory().Cmp(most) > 0 {
			limits[corev1.ResourceMemory] = most
		}
		return true, deployment, s.simulation.tracker.Update(deployments, deployment, deployment.Namespace)
	}
	s.cluster.PrependReactor("patch", "deployments", mutate)
	s.serving = 3
	s.changeBox(t, setMemory("128Mi"))
	s.runFor(t, time.Minute)
	check(t, "resize", (*modelv1.ModelBoxResizeStatus)(nil), s.boxInServer(t).Status.Resize)
	s.expectNotHalted(t)
}

// TestResizeWhoseStatusIsLost loses the status of the box after each number of steps of a resize.
func TestResizeWhoseStatusIsLost(t *testing.T) {
	for after := 0; ; after++ {
		isOver := false
		t.Run(fmt.Sprintf("after %d steps", after), func(t *testing.T) {
			s := newResizeTest(t, modelv1.ResizeInPlaceOrRestart)
			s.changeBox(t, setMemory("128Mi"))
			for range after {
				s.work(t)
				s.reconcileOnce(t)
			}
			isOver = after > 0 && s.boxInServer(t).Status.Resize == nil
			s.testController.update(t, func(box *modelv1.ModelBox) { box.Status.Resize = nil })
			s.runToTheEnd(t)
			check(t, "memory", "templates 128Mi, pods 128Mi 128Mi 128Mi 128Mi", s.memory(t))
			s.expectSettled(t)
		})
		if isOver {
			break
		}
	}
}
