// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// stepsTest is a controller in a simulated cluster, with a box whose rollouts are in steps.
type stepsTest struct {
	*rolloutTest
	*simulation
	// serving is the number of pods that the Service always leads to.
	serving int
	// history has what a test looks at after every write, without repetitions.
	history []string
	look    func(t *testing.T) string
	// requeueAfter is after how long the last reconcile wants the next one.
	requeueAfter time.Duration
	// startsAnew lets another controller do every reconcile.
	startsAnew bool
	// killer kills the controller, nil for nothing.
	killer *killer
}

// newStepsTest returns a box of four pods whose first rollout is complete, and whose next ones have the type and the steps.
func newStepsTest(t *testing.T, rolloutType modelv1.RolloutType, steps []modelv1.ModelBoxRolloutStep, changes ...func(*modelv1.ModelBox)) *stepsTest {
	t.Helper()
	s := newUnstartedStepsTest(t, rolloutType, steps, changes...)
	s.rollOutFirst(t)
	return s
}

// newUnstartedStepsTest returns the box of newStepsTest before its first rollout.
func newUnstartedStepsTest(t *testing.T, rolloutType modelv1.RolloutType, steps []modelv1.ModelBoxRolloutStep, changes ...func(*modelv1.ModelBox)) *stepsTest {
	t.Helper()
	box := fixture.WebBox(t, append([]func(*modelv1.ModelBox){func(box *modelv1.ModelBox) {
		box.Spec.Image, box.Spec.Replicas = "nginx:1", ptr.To[int32](4)
		box.Spec.Rollout = &modelv1.ModelBoxRollout{Type: &rolloutType, Steps: steps}
		box.Spec.Configs = []modelv1.ModelBoxConfig{{MountPath: "/etc/web", Data: map[string]string{"web.conf": "workers 1;"}}}
		box.Spec.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))}
	}}, changes...)...)
	clock := clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second))
	s := &stepsTest{
		rolloutTest: &rolloutTest{testController: newTestController(t, box), clock: clock, kind: box.Spec.Workload},
		simulation:  &simulation{clock: clock, nodes: 4, failing: map[string]func(*corev1.Pod){"nginx:bad": badImage}},
	}
	s.simulation.tracker = s.cluster.Tracker()
	for _, resource := range []string{"deployments", "statefulsets", "daemonsets", "jobs", "cronjobs"} {
		s.cluster.PrependReactor("patch", resource, s.simulation.apply)
	}
	s.cluster.PrependReactor("create", "jobs", s.createJob)
	s.startAnother(t)
	s.look = func(*testing.T) string { return "" }
	return s
}

// rollOutFirst completes the first rollout of the box.
func (s *stepsTest) rollOutFirst(t *testing.T) {
	t.Helper()
	s.run(t)
	s.told()
	if rollout := s.rollout(t); rollout.Phase != modelv1.RolloutComplete || rollout.Stable == nil {
		t.Fatalf("the first rollout is %+v", rollout)
	}
	if s.serving = s.desired(t); s.rolloutTest.kind != modelv1.WorkloadDeployment {
		s.serving-- // An update replaces one pod after the other.
	}
}

// routed gives a box a route.
func routed(box *modelv1.ModelBox) {
	box.Spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Path: "/", PathType: networkingv1.PathTypePrefix}
}

func stateful(box *modelv1.ModelBox) {
	box.Spec.Workload, box.Spec.RollingUpdate = modelv1.WorkloadStatefulSet, nil
}

func daemonic(box *modelv1.ModelBox) {
	box.Spec.Workload, box.Spec.RollingUpdate, box.Spec.Replicas = modelv1.WorkloadDaemonSet, nil, nil
}

func onFailure(policy modelv1.RolloutFailurePolicy) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Spec.Rollout.OnFailure = policy }
}

// desired returns how many pods the box is to have.
func (s *stepsTest) desired(t *testing.T) int {
	t.Helper()
	if replicas := s.boxInServer(t).Spec.Replicas; replicas != nil {
		return int(*replicas)
	}
	return s.nodes
}

// scaleBox changes how many pods the box is to have.
func (s *stepsTest) scaleBox(t *testing.T, replicas int32) {
	t.Helper()
	if s.rolloutTest.kind == modelv1.WorkloadDaemonSet {
		s.nodes = int(replicas)
		return
	}
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Replicas = &replicas })
}

// startAnother gives the test another controller that knows nothing but what the servers have.
func (s *stepsTest) startAnother(t *testing.T) {
	t.Helper()
	s.startController(t)
	s.Controller.Pace = reconciler.NewStatusPace(s.rolloutTest.clock)
	s.testController.kind("HTTPRoute").IsServed = func() bool { return true }
}

// run lets the cluster and the controller work until neither has anything to do.
func (s *stepsTest) run(t *testing.T) {
	t.Helper()
	for range 200 {
		isBusy := s.work(t)
		s.checkTraffic(t)
		if writes := s.reconcileOnce(t); !isBusy && len(writes) == 0 {
			return
		}
	}
	t.Fatalf("the cluster does not come to rest: %q", s.history)
}

// runFor is run for this time: the controller reconciles at the times that it has requested, and at the end.
func (s *stepsTest) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	end := s.rolloutTest.clock.Now().Add(d)
	for s.run(t); s.rolloutTest.clock.Now().Before(end); s.run(t) {
		left := end.Sub(s.rolloutTest.clock.Now())
		if s.requeueAfter > 0 {
			left = min(left, s.requeueAfter)
		}
		s.step(left)
	}
}

// reconcileOnce reconciles the box as the servers have it, and returns what was written.
func (s *stepsTest) reconcileOnce(t *testing.T) []string {
	t.Helper()
	if s.startsAnew {
		s.startAnother(t)
	}
	s.catchUp(t)
	s.cachePods(t, s.simulation)
	s.gateway.ClearActions()
	if s.killer == nil {
		s.requeueAfter = s.mustReconcile(t)
	} else {
		s.requeueAfter = s.reconcileKilled(t)
	}
	writes := slices.DeleteFunc(s.requests(), func(request string) bool {
		return strings.HasPrefix(request, "get ") || strings.HasPrefix(request, "list ")
	})
	for _, action := range s.gateway.Actions() {
		if action.GetVerb() != "get" && action.GetVerb() != "list" {
			writes = append(writes, action.GetVerb()+" "+action.GetResource().Resource)
		}
	}
	s.checkTraffic(t)
	if is := s.look(t); is != "" && (len(s.history) == 0 || s.history[len(s.history)-1] != is) {
		s.history = append(s.history, is)
	}
	return writes
}

// checkTraffic checks that clients of the box always reach enough pods that are ready.
func (s *stepsTest) checkTraffic(t *testing.T) {
	t.Helper()
	if serving := s.readyBehind(t, "web"); serving < s.serving && len(s.boxInServer(t).Spec.Ports) > 0 {
		t.Fatalf("the Service leads to %d pods: %s", serving, s.describe(t))
	}
	for backend, weight := range s.weights(t) {
		if weight > 0 && s.serving > 0 && s.readyBehind(t, backend) == 0 {
			t.Fatalf("the route leads to no pod of Service %s: %s", backend, s.describe(t))
		}
	}
}

// describe says what there is.
func (s *stepsTest) describe(t *testing.T) string {
	t.Helper()
	rollout := s.rollout(t)
	var names []string
	for _, pod := range s.pods(t) {
		names = append(names, fmt.Sprintf("%s (%s, ready %t)", pod.Name, pod.Spec.Containers[0].Image, kinds.IsReady(pod)))
	}
	var candidate, traffic any
	if rollout != nil && rollout.Candidate != nil {
		candidate = *rollout.Candidate
	}
	if rollout != nil && rollout.Traffic != nil {
		traffic = *rollout.Traffic
	}
	return fmt.Sprintf("rollout %+v, candidate %+v, traffic %+v, selector %v, weights %v, pods %q", rollout, candidate, traffic, s.selector(t, "web"), s.weights(t), names)
}

// selector returns the selector of a Service, nil if there is none.
func (s *stepsTest) selector(t *testing.T, service string) map[string]string {
	t.Helper()
	live, err := s.cluster.CoreV1().Services("default").Get(t.Context(), service, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return live.Spec.Selector
}

// readyBehind returns the number of pods that are ready and that the Service leads to.
func (s *stepsTest) readyBehind(t *testing.T, service string) int {
	t.Helper()
	selector, ready := s.selector(t, service), 0
	for _, pod := range s.pods(t) {
		if selector != nil && kinds.IsReady(pod) && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
			ready++
		}
	}
	return ready
}

// weights returns the weights of the Services that the route leads to.
func (s *stepsTest) weights(t *testing.T) map[string]int32 {
	t.Helper()
	route, err := s.gateway.GatewayV1().HTTPRoutes("default").Get(t.Context(), "web", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]int32{}
	for _, backend := range route.Spec.Rules[0].BackendRefs {
		weights[string(backend.Name)] = ptr.Deref(backend.Weight, 1)
	}
	return weights
}

// candidate returns the candidate Deployment, nil if there is none.
func (s *stepsTest) candidate(t *testing.T) *appsv1.Deployment {
	t.Helper()
	candidate, err := s.cluster.AppsV1().Deployments("default").Get(t.Context(), "web-canary", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return candidate
}

// numbers returns the numbers of pods of the Deployment and of its candidate, as "4+1".
func (s *stepsTest) numbers(t *testing.T) string {
	t.Helper()
	if candidate := s.candidate(t); candidate != nil {
		return fmt.Sprintf("%d+%d", *s.deployment(t).Spec.Replicas, *candidate.Spec.Replicas)
	}
	return fmt.Sprint(*s.deployment(t).Spec.Replicas)
}

// images returns how many pods of each image are ready.
func (s *stepsTest) images(t *testing.T) string {
	t.Helper()
	counts := map[string]int{}
	for _, pod := range s.pods(t) {
		if kinds.IsReady(pod) {
			counts[pod.Spec.Containers[0].Image]++
		}
	}
	var images []string
	for _, image := range slices.Sorted(maps.Keys(counts)) {
		images = append(images, fmt.Sprintf("%d of %s", counts[image], image))
	}
	return strings.Join(images, ", ")
}

// promote ends the current step, as the subresource does.
func (s *stepsTest) promote(t *testing.T) {
	t.Helper()
	s.testController.update(t, func(box *modelv1.ModelBox) {
		box.Status.Rollout.Step, box.Status.Rollout.NextStepAt = ptr.To(*box.Status.Rollout.Step+1), nil
	})
}

// expectComplete checks that all pods have the image, and that nothing of the steps is left.
func (s *stepsTest) expectComplete(t *testing.T, image string) {
	t.Helper()
	rollout := s.rollout(t)
	check(t, "phase", modelv1.RolloutComplete, rollout.Phase)
	check(t, "stable", rollout.PodsHash, rollout.Stable.PodsHash)
	s.expectNoSteps(t, image)
	check(t, "ready", "True Ready", s.status(t).ready)
}

// expectNoSteps checks that all pods have the image, and that nothing of steps is left.
func (s *stepsTest) expectNoSteps(t *testing.T, image string) {
	t.Helper()
	check(t, "images", fmt.Sprintf("%d of %s", s.desired(t), image), s.images(t))
	if rollout := s.rollout(t); rollout != nil && (rollout.Step != nil || rollout.Weight != nil || rollout.NextStepAt != nil || rollout.Candidate != nil || rollout.Traffic != nil) {
		t.Errorf("there are steps left: %s", s.describe(t))
	}
	if selector := s.selector(t, "web"); selector != nil {
		check(t, "selector", map[string]string{modelv1.SelectorLabel: "web"}, selector)
	}
	check(t, "selector of the candidate", map[string]string(nil), s.selector(t, "web-canary"))
	if candidate := s.candidate(t); candidate != nil {
		t.Errorf("there is a candidate: %s", s.describe(t))
	}
	if weights := s.weights(t); len(weights) > 1 {
		t.Errorf("the route has the weights %v", weights)
	}
	configMaps, err := s.cluster.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "ConfigMaps", 1, len(configMaps.Items))
}

func image(name string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Image = name }
}

var (
	twoSteps = []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "5m"}, {Weight: 50, Pause: modelv1.PauseManual}}
	// allSteps end with all of the traffic.
	allSteps = []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "5m"}, {Weight: 100, Pause: modelv1.PauseManual}}
)

func TestCanary(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps)
	s.look = s.numbers
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	check(t, "replicas in step 1", []string{"4+1", "3+1"}, s.history)
	check(t, "images in step 1", "3 of nginx:1, 1 of nginx:2", s.images(t))
	check(t, "weight in step 1", int32(25), *s.rollout(t).Weight)
	check(t, "requeue after", 5*time.Minute, s.requeueAfter)
	s.runFor(t, 5*time.Minute-time.Second)
	check(t, "step before the end of the pause", int32(1), *s.rollout(t).Step)
	s.runFor(t, time.Second)
	check(t, "step", int32(2), *s.rollout(t).Step)
	check(t, "replicas in step 2", []string{"4+1", "3+1", "3+2", "2+2"}, s.history)
	s.runFor(t, time.Hour)
	check(t, "step while it waits", int32(2), *s.rollout(t).Step)
	s.promote(t)
	s.run(t)
	check(t, "replicas in the end", []string{"4+1", "3+1", "3+2", "2+2", "4+2", "4"}, s.history)
	s.expectComplete(t, "nginx:2")
	check(t, "events", []string{
		"Normal RolloutStep step 1 of 2 (weight 25)",
		"Normal RolloutStep step 2 of 2 (weight 50)",
	}, toldOf(s.told(), "RolloutStep"))
}

func TestCanaryOfAllPods(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, []modelv1.ModelBoxRolloutStep{{Weight: 1}, {Weight: 100}})
	s.look = s.numbers
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	check(t, "replicas", []string{"4+1", "3+1", "3+4", "0+4", "4+4", "4"}, s.history)
	s.expectComplete(t, "nginx:2")
	check(t, "events", []string{
		"Normal RolloutStep step 1 of 2 (weight 1)",
		"Normal RolloutStep step 2 of 2 (weight 100)",
		"Normal RolloutStep all steps are over, and the new revision takes the place of the stable one",
	}, toldOf(s.told(), "RolloutStep"))
}

func TestCanaryOfAStatefulSet(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, stateful)
	s.look = func(t *testing.T) string {
		set, err := s.cluster.AppsV1().StatefulSets("default").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if rollingUpdate := set.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
			return fmt.Sprint(ptr.Deref(rollingUpdate.Partition, 0))
		}
		return "0"
	}
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	check(t, "partition in step 1", []string{"3"}, s.history)
	check(t, "images in step 1", "3 of nginx:1, 1 of nginx:2", s.images(t))
	check(t, "weight", int32(25), *s.rollout(t).Weight)
	s.runFor(t, 5*time.Minute)
	check(t, "partition in step 2", []string{"3", "2"}, s.history)
	check(t, "images in step 2", "2 of nginx:1, 2 of nginx:2", s.images(t))
	s.promote(t)
	s.run(t)
	check(t, "partition in the end", []string{"3", "2", "0"}, s.history)
	s.expectComplete(t, "nginx:2")
}

func TestStepsWithoutPorts(t *testing.T) {
	for rolloutType, steps := range map[modelv1.RolloutType][]modelv1.ModelBoxRolloutStep{modelv1.RolloutCanary: twoSteps, modelv1.RolloutBlueGreen: nil} {
		t.Run(string(rolloutType), func(t *testing.T) {
			s := newStepsTest(t, rolloutType, steps, portless)
			s.look = s.numbers
			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
			check(t, "replicas", map[modelv1.RolloutType][]string{
				modelv1.RolloutCanary:    {"4+1", "3+1", "3+2", "2+2", "4+2", "4"},
				modelv1.RolloutBlueGreen: {"4+4", "4"},
			}[rolloutType], s.history)
		})
	}
}

// The candidate makes room for the stable pods that a quota does not let be created beside it.
func TestWayBackWithoutRoom(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, []modelv1.ModelBoxRolloutStep{{Weight: 50, Pause: modelv1.PauseManual}})
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	s.quota, s.serving = 4, 2
	s.changeBox(t, image("nginx:1"))
	s.runToTheEnd(t)
	s.expectComplete(t, "nginx:1")
}

func TestCanaryOfOnePod(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](1) })
	s.look = s.numbers
	s.changeBox(t, image("nginx:2"))
	s.runFor(t, 6*time.Minute)
	check(t, "replicas", []string{"1+1"}, s.history)
	check(t, "weight", int32(50), *s.rollout(t).Weight)
	s.promote(t)
	s.run(t)
	s.expectComplete(t, "nginx:2")
}

// A controller that starts at any time continues like the former one.
func TestStepsWithAControllerThatStartsAnew(t *testing.T) {
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) {
			var histories [2][]string
			for i := range histories {
				s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
				s.look = func(t *testing.T) string {
					return fmt.Sprintf("%s pods, selector %v, weights %v", s.allNumbers(t), slices.Sorted(maps.Keys(s.selector(t, "web"))), s.weights(t))
				}
				s.startsAnew = i == 1
				s.changeBox(t, image("nginx:2"))
				s.runToTheEnd(t)
				s.expectComplete(t, "nginx:2")
				histories[i] = s.history
			}
			check(t, "history", histories[0], histories[1])
		})
	}
}

// A box whose store is lost at any time in its steps keeps its capacity, and gets to the end.
func TestLostStoreInTheMiddleOfSteps(t *testing.T) {
	for _, row := range stepsRows {
		for _, isAborted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, aborted: %t", row.name, isAborted), func(t *testing.T) {
				t.Parallel()
				s := newStepsTest(t, row.rolloutType, row.steps, append(slices.Clone(row.changes), onFailure(modelv1.RolloutFailureRollback))...)
				stable := s.rollout(t).Stable.PodsHash
				s.changeBox(t, image("nginx:2"))
				s.run(t)
				s.promote(t)
				s.run(t)
				if isAborted {
					s.testController.update(t, func(box *modelv1.ModelBox) {
						box.Status.Rollout.Phase, box.Status.Rollout.Reason, box.Status.Rollout.Step = modelv1.RolloutRolledBack, modelv1.RolloutAborted, nil
					})
					s.reconcileOnce(t)
				}
				for range 6 {
					s.loseStatus(t)
					s.reconcileOnce(t)
					s.checkTraffic(t)
					s.work(t)
					s.checkTraffic(t)
				}
				s.runToTheEnd(t)
				if isAborted {
					check(t, "phase", modelv1.RolloutRolledBack, s.rollout(t).Phase)
					s.expectNoSteps(t, "nginx:1")
					check(t, "stable", stable, s.rollout(t).Stable.PodsHash)
					return
				}
				s.expectComplete(t, "nginx:2")
			})
		}
	}
}

// If the store is lost before the Deployment gets the new revision, the Service leads to the same pods: a candidate without traffic may
// be bad.
func TestLostStoreKeepsTraffic(t *testing.T) {
	for _, row := range stepsRows {
		for promotions := range len(row.steps) + 1 {
			t.Run(fmt.Sprintf("%s, step %d", row.name, promotions+1), func(t *testing.T) {
				t.Parallel()
				s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
				if s.rolloutTest.kind != modelv1.WorkloadDeployment {
					t.Skip("the Service always leads to all pods")
				}
				s.changeBox(t, image("nginx:2"))
				s.run(t)
				for range promotions {
					s.promote(t)
					s.run(t)
				}
				s.history = nil
				s.look = func(t *testing.T) string {
					if s.deployment(t).Spec.Template.Spec.Containers[0].Image == "nginx:2" {
						return ""
					}
					return s.serviceTarget(t)
				}
				s.reconcileOnce(t)
				before := slices.Clone(s.history)
				for range 3 {
					s.loseStatus(t)
					s.run(t)
				}
				check(t, "where the Service leads to", before, s.history)
			})
		}
	}
}

// loseStatus gives the box the status that a recovery of the store finds on its workload and on its Service.
func (s *stepsTest) loseStatus(t *testing.T) {
	t.Helper()
	workload := s.liveWorkload(t)
	service := s.service(t)
	s.testController.update(t, func(box *modelv1.ModelBox) {
		box.Status = modelv1.ModelBoxStatus{Rollout: modelboxrender.RecordedRollout(workload, box)}
		if modelboxrender.HasRecordedTraffic(box) {
			modelboxrender.SetRecordedTraffic(box, workload, service, s.rolloutTest.clock.Now())
		}
	})
	s.startAnother(t)
}

// stepsRow is a box whose rollouts are in steps.
type stepsRow struct {
	name        string
	rolloutType modelv1.RolloutType
	steps       []modelv1.ModelBoxRolloutStep
	changes     []func(*modelv1.ModelBox)
}

// endsAtCandidate returns whether the candidate has all of the traffic when the steps are over.
func (r stepsRow) endsAtCandidate() bool {
	return r.rolloutType == modelv1.RolloutBlueGreen || r.steps[len(r.steps)-1].Weight == 100
}

// stepsRows are boxes that are rolled out in steps.
var stepsRows = []stepsRow{
	{"canary", modelv1.RolloutCanary, twoSteps, nil},
	{"canary with a route", modelv1.RolloutCanary, twoSteps, []func(*modelv1.ModelBox){routed}},
	{"canary with a route to all pods", modelv1.RolloutCanary, allSteps, []func(*modelv1.ModelBox){routed}},
	{"blue-green", modelv1.RolloutBlueGreen, []modelv1.ModelBoxRolloutStep{{Pause: modelv1.PauseManual}}, []func(*modelv1.ModelBox){routed}},
	{"canary of a StatefulSet", modelv1.RolloutCanary, twoSteps, []func(*modelv1.ModelBox){stateful}},
	{"canary of a DaemonSet", modelv1.RolloutCanary, twoSteps, []func(*modelv1.ModelBox){daemonic}},
}

func portless(box *modelv1.ModelBox) { box.Spec.Ports = nil }

func TestChangesInTheMiddleOfSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, change := range []struct {
		name   string
		change func(t *testing.T, s *stepsTest)
		// image is the image of all pods in the end.
		image string
	}{
		{"another version", func(t *testing.T, s *stepsTest) {
			stable := s.rollout(t).Stable
			s.changeBox(t, image("nginx:3"))
			s.run(t)
			if s.rollout(t).Step != nil {
				check(t, "stable", stable, s.rollout(t).Stable)
			}
		}, "nginx:3"},
		{"a revert", func(t *testing.T, s *stepsTest) { s.changeBox(t, image("nginx:1")) }, "nginx:1"},
		{"a revert and another version", func(t *testing.T, s *stepsTest) {
			s.changeBox(t, image("nginx:1"))
			s.reconcileOnce(t)
			s.changeBox(t, image("nginx:3"))
		}, "nginx:3"},
		{"no type", func(t *testing.T, s *stepsTest) {
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Rollout.Type, spec.Rollout.Steps = nil, nil })
		}, "nginx:2"},
		{"no rollout", func(t *testing.T, s *stepsTest) {
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Rollout = nil })
		}, "nginx:2"},
		{"fewer steps", func(t *testing.T, s *stepsTest) {
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
				spec.Rollout.Steps = spec.Rollout.Steps[:min(1, len(spec.Rollout.Steps))]
			})
		}, "nginx:2"},
		{"a lower weight", func(t *testing.T, s *stepsTest) {
			s.promote(t)
			s.run(t)
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
				if len(spec.Rollout.Steps) > 1 {
					spec.Rollout.Steps = slices.Clone(spec.Rollout.Steps)
					spec.Rollout.Steps[0].Weight, spec.Rollout.Steps[1].Weight = 1, 1
				}
			})
		}, "nginx:2"},
		{"fewer steps in the last one", func(t *testing.T, s *stepsTest) {
			s.promote(t)
			s.run(t)
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
				spec.Rollout.Steps = spec.Rollout.Steps[:min(1, len(spec.Rollout.Steps))]
			})
		}, "nginx:2"},
		{"more pods", func(t *testing.T, s *stepsTest) {
			s.scaleBox(t, 9)
		}, "nginx:2"},
		{"fewer pods", func(t *testing.T, s *stepsTest) {
			s.serving -= 2
			s.scaleBox(t, 2)
		}, "nginx:2"},
		{"no pods", func(t *testing.T, s *stepsTest) {
			s.serving = 0
			s.scaleBox(t, 0)
			s.runToTheEnd(t)
			check(t, "pods", 0, len(s.pods(t)))
			s.expectNoPods(t)
		}, ""},
		{"no pods for a while", func(t *testing.T, s *stepsTest) {
			serving := s.serving
			s.serving = 0
			s.scaleBox(t, 0)
			s.runToTheEnd(t)
			s.scaleBox(t, 4)
			s.runToTheEnd(t)
			s.serving = serving
		}, "nginx:2"},
		{"a pause of the box", func(t *testing.T, s *stepsTest) {
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
			s.run(t)
			before := s.allNumbers(t)
			s.runFor(t, time.Hour)
			check(t, "replicas of a paused box", before, s.allNumbers(t))
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
		}, "nginx:2"},
	} {
		for _, row := range stepsRows {
			t.Run(change.name+" of a "+row.name, func(t *testing.T) {
				t.Parallel()
				s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
				s.changeBox(t, image("nginx:2"))
				s.run(t)
				if row.endsAtCandidate() { // The steps are over, and the candidate has the traffic.
					for range row.steps {
						s.promote(t)
						s.run(t)
					}
					s.step(s.requeueAfter)
					s.reconcileOnce(t)
					s.work(t)
				}
				change.change(t, s)
				s.runToTheEnd(t)
				if change.image != "" {
					s.expectNoSteps(t, change.image)
					check(t, "ready", "True Ready", s.status(t).ready)
				}
			})
		}
	}
}

// isIdle lets the cluster and the controller work for a turn, and returns whether they had nothing to do.
func (s *stepsTest) isIdle(t *testing.T) bool {
	t.Helper()
	isBusy := s.work(t)
	s.checkTraffic(t)
	return len(s.reconcileOnce(t)) == 0 && !isBusy
}

// runToTheEnd is run through all pauses.
func (s *stepsTest) runToTheEnd(t *testing.T) {
	t.Helper()
	for range 20 {
		s.run(t)
		rollout := s.rollout(t)
		switch {
		case s.requeueAfter > 0 && s.requeueAfter < time.Hour:
			s.step(s.requeueAfter)
		case rollout != nil && rollout.Step != nil && rollout.Phase == modelv1.RolloutProgressing && int(*rollout.Step) <= len(s.boxInServer(t).Spec.Rollout.Steps):
			s.promote(t)
		default:
			return
		}
	}
	t.Fatalf("the rollout does not come to an end: %s", s.describe(t))
}

func (s *stepsTest) expectNoPods(t *testing.T) {
	t.Helper()
	if rollout := s.rollout(t); rollout.Candidate != nil || rollout.Traffic != nil || rollout.Step != nil || s.candidate(t) != nil && s.rolloutTest.kind == modelv1.WorkloadDeployment {
		t.Errorf("there are steps left: %s", s.describe(t))
	}
}

// allNumbers is numbers of any box: of a StatefulSet, it is how many pods have which image.
func (s *stepsTest) allNumbers(t *testing.T) string {
	t.Helper()
	if s.rolloutTest.kind != modelv1.WorkloadDeployment {
		return s.images(t)
	}
	return s.numbers(t)
}
