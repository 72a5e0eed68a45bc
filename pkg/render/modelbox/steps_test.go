// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

// stableDocument is the box whose pods are stable.
const stableDocument = `
apiVersion: model.github.com/v1
kind: ModelBox
metadata:
  name: web
spec:
  image: nginx:1
  replicas: 4
  ports:
  - port: 80
    targetPort: 8080
  configs:
  - mountPath: /etc/web
    data:
      web.conf: workers 1;
`

// steppedBox returns a box of another version than its stable pods have, which is in the first of two steps, and what is beside it.
func steppedBox(t *testing.T, changes ...func(*modelv1.ModelBox)) (*modelv1.ModelBox, Live) {
	t.Helper()
	return steppedFrom(t, func(*modelv1.ModelBox) {}, changes...)
}

// steppedFrom is steppedBox with another stable box.
func steppedFrom(t *testing.T, change func(*modelv1.ModelBox), changes ...func(*modelv1.ModelBox)) (*modelv1.ModelBox, Live) {
	t.Helper()
	stable, err := decode([]byte(stableDocument))
	if err != nil {
		t.Fatal(err)
	}
	box := stable.DeepCopy()
	box.Generation, box.Spec.Image, box.Spec.Configs[0].Data = 2, "nginx:2", map[string]string{"web.conf": "workers 2;"}
	box.Spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureNone, Type: ptr.To(modelv1.RolloutCanary),
		Steps: []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "5m"}, {Weight: 50, Pause: modelv1.PauseManual}}}
	box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](1)}
	for _, change := range changes {
		change(box)
	}
	change(stable)
	hashes := [2]string{}
	for i, box := range []*modelv1.ModelBox{box, stable} {
		modelv1.SetObjectDefaults_ModelBox(box)
		if hashes[i], err = PodsHash(box); err != nil {
			t.Fatal(err)
		}
	}
	record, err := Record(stable)
	if err != nil {
		t.Fatal(err)
	}
	if rollout := box.Status.Rollout; rollout != nil {
		rollout.PodsHash, rollout.Stable = hashes[0], &modelv1.ModelBoxRolloutRevision{PodsHash: hashes[1], Generation: 1}
		if rollout.Candidate != nil && rollout.Candidate.PodsHash == "" {
			rollout.Candidate.PodsHash = hashes[0]
		}
	}
	return box, Live{StableRecord: record}
}

func inStep(step int32) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Status.Rollout.Step = &step }
}

func inPhase(phase modelv1.RolloutPhase) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Status.Rollout.Phase = phase }
}

// withCandidate gives a box the candidate with the pods that it asks for, of which that many are available.
func withCandidate(available int32) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		box.Status.Rollout.Candidate = &modelv1.ModelBoxRolloutCandidate{Generation: 2, AvailableReplicas: available}
	}
}

func withFormerCandidate(box *modelv1.ModelBox) {
	box.Status.Rollout.Candidate = &modelv1.ModelBoxRolloutCandidate{PodsHash: "former", Generation: 2, AvailableReplicas: 1}
}

func withTraffic(service modelv1.TrafficTarget, weight int32) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		traffic := &modelv1.ModelBoxRolloutTraffic{Service: service, Weight: weight}
		if service == modelv1.TrafficToStable {
			traffic.StableHash = "5d8f7c9b6"
		}
		box.Status.Rollout.Traffic = traffic
	}
}

func withRoute(box *modelv1.ModelBox) {
	box.Spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Path: "/", PathType: networkingv1.PathTypePrefix}
}

// endingAt100 gives all of the traffic to the new revision in the last step.
func endingAt100(box *modelv1.ModelBox) { box.Spec.Rollout.Steps[1].Weight = 100 }

// beforeNextStep lets the rollout wait until its traffic has moved.
func beforeNextStep(box *modelv1.ModelBox) {
	box.Status.Rollout.NextStepAt = ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))
}

func blueGreen(box *modelv1.ModelBox) {
	box.Spec.Rollout.Type, box.Spec.Rollout.Steps = ptr.To(modelv1.RolloutBlueGreen), nil
}

func withoutType(box *modelv1.ModelBox) { box.Spec.Rollout.Type, box.Spec.Rollout.Steps = nil, nil }

func ofWorkload(workload modelv1.Workload) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		if box.Spec.Workload = workload; workload != modelv1.WorkloadDeployment {
			box.Spec.RollingUpdate = nil
		}
		if workload == modelv1.WorkloadDaemonSet {
			box.Spec.Replicas = nil
		}
	}
}

// onNodes has the DaemonSet of a box that runs on that number of nodes.
func onNodes(nodes int32) func(*Live) {
	return func(live *Live) {
		live.Workload = &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: nodes}}
	}
}

// The golden files pin the children of boxes that are rolled out in steps, like the golden files of TestGolden for all boxes.
func TestGoldenSteps(t *testing.T) {
	rows := map[string]struct {
		stable  func(*modelv1.ModelBox)
		changes []func(*modelv1.ModelBox)
	}{
		"canary-of-no-available-pod":           {nil, []func(*modelv1.ModelBox){withCandidate(0)}},
		"canary-of-one-available-pod":          {nil, []func(*modelv1.ModelBox){withCandidate(1)}},
		"canary-after-the-last-step":           {nil, []func(*modelv1.ModelBox){inStep(3), withCandidate(2)}},
		"canary-paused":                        {nil, []func(*modelv1.ModelBox){inPhase(modelv1.RolloutPaused), withCandidate(1)}},
		"canary-rolled-back":                   {nil, []func(*modelv1.ModelBox){inPhase(modelv1.RolloutRolledBack), withCandidate(1)}},
		"canary-of-another-revision":           {nil, []func(*modelv1.ModelBox){withFormerCandidate}},
		"canary-with-a-route-at-first":         {nil, []func(*modelv1.ModelBox){withRoute}},
		"canary-with-a-route":                  {nil, []func(*modelv1.ModelBox){withRoute, withCandidate(1), withTraffic(modelv1.TrafficToStable, 25)}},
		"canary-with-a-route-after-steps":      {nil, []func(*modelv1.ModelBox){withRoute, inStep(3), withCandidate(2), withTraffic(modelv1.TrafficToStable, 50)}},
		"canary-with-a-route-to-all":           {nil, []func(*modelv1.ModelBox){withRoute, inStep(3), withCandidate(2), withTraffic(modelv1.TrafficToAll, 0)}},
		"canary-with-a-route-at-the-switch":    {nil, []func(*modelv1.ModelBox){withRoute, endingAt100, inStep(3), withCandidate(4), withTraffic(modelv1.TrafficToCandidate, 0), beforeNextStep}},
		"canary-with-a-route-after-the-switch": {nil, []func(*modelv1.ModelBox){withRoute, endingAt100, inStep(3), withCandidate(4), withTraffic(modelv1.TrafficToCandidate, 0)}},
		"no-type-any-more":                     {nil, []func(*modelv1.ModelBox){withRoute, withCandidate(1), withTraffic(modelv1.TrafficToStable, 25), withoutType}},
		"blue-green-before-the-switch":         {nil, []func(*modelv1.ModelBox){blueGreen, withCandidate(4), withTraffic(modelv1.TrafficToStable, 0)}},
		"blue-green-at-the-switch":             {nil, []func(*modelv1.ModelBox){blueGreen, inStep(2), withCandidate(4), withTraffic(modelv1.TrafficToStable, 0)}},
		"blue-green-after-the-switch":          {nil, []func(*modelv1.ModelBox){blueGreen, inStep(2), withCandidate(4), withTraffic(modelv1.TrafficToCandidate, 0)}},
		"canary-of-a-stateful-set":             {ofWorkload(modelv1.WorkloadStatefulSet), []func(*modelv1.ModelBox){ofWorkload(modelv1.WorkloadStatefulSet)}},
		"canary-of-a-stateful-set-at-last":     {ofWorkload(modelv1.WorkloadStatefulSet), []func(*modelv1.ModelBox){ofWorkload(modelv1.WorkloadStatefulSet), inStep(3)}},
		"canary-of-a-daemon-set":               {ofWorkload(modelv1.WorkloadDaemonSet), []func(*modelv1.ModelBox){ofWorkload(modelv1.WorkloadDaemonSet)}},
		"canary-of-a-daemon-set-at-last":       {ofWorkload(modelv1.WorkloadDaemonSet), []func(*modelv1.ModelBox){ofWorkload(modelv1.WorkloadDaemonSet), inStep(3)}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			stable := row.stable
			if stable == nil {
				stable = func(*modelv1.ModelBox) {}
			}
			box, live := steppedFrom(t, stable, row.changes...)
			if box.Spec.Workload == modelv1.WorkloadDaemonSet {
				onNodes(4)(&live)
			}
			children, err := RenderForLive(box, live)
			if err != nil {
				t.Fatal(err)
			}
			for _, child := range children {
				if annotations := child.GetAnnotations(); annotations[modelv1.StableRecordAnnotation] != "" {
					annotations[modelv1.StableRecordAnnotation] = "the stable box"
					child.SetAnnotations(annotations)
				}
			}
			rendertest.ExpectGolden(t, filepath.Join("testdata", "steps", name+rendertest.GoldenSuffix), "row "+name, rendertest.Documents(t, children...))
		})
	}
	for _, golden := range glob(t, "testdata/steps/*"+rendertest.GoldenSuffix) {
		if _, isThere := rows[strings.TrimSuffix(filepath.Base(golden), rendertest.GoldenSuffix)]; !isThere {
			t.Errorf("%s belongs to no row: delete it", golden)
		}
	}
}

func TestStepsOf(t *testing.T) {
	without := func(change func(*modelv1.ModelBox)) []func(*modelv1.ModelBox) {
		return []func(*modelv1.ModelBox){change}
	}
	otherTarget := func(box *modelv1.ModelBox) { box.Spec.Ports[0].TargetPort = intstr.FromInt32(9090) }
	for _, row := range []struct {
		name     string
		stable   func(*modelv1.ModelBox)
		changes  []func(*modelv1.ModelBox)
		live     func(*Live)
		number   int32
		obstacle string
	}{
		{name: "in the first step", number: 1},
		{name: "in the second step", changes: without(inStep(2)), number: 2},
		{name: "after the steps", changes: without(inStep(3)), number: 3},
		{name: "in a step that was taken out", changes: without(inStep(7)), number: 3},
		{name: "without a number", changes: without(func(box *modelv1.ModelBox) { box.Status.Rollout.Step = nil }), number: 1},
		{name: "failed", changes: without(inPhase(modelv1.RolloutFailed)), number: 1},
		{name: "halted", changes: without(inPhase(modelv1.RolloutPaused)), number: 1},
		{name: "rolled back", changes: without(inPhase(modelv1.RolloutRolledBack))},
		{name: "no pods", changes: without(func(box *modelv1.ModelBox) { box.Spec.Replicas = new(int32) })},
		{name: "no type", changes: without(func(box *modelv1.ModelBox) {
			box.Spec.Rollout.OnFailure, box.Spec.Rollout.Type = modelv1.RolloutFailureRollback, nil
		})},
		{name: "no rollout", changes: without(func(box *modelv1.ModelBox) { box.Spec.Rollout = nil })},
		{name: "no status", changes: without(func(box *modelv1.ModelBox) { box.Status.Rollout = nil })},
		{name: "a DaemonSet", stable: ofWorkload(modelv1.WorkloadDaemonSet), changes: without(ofWorkload(modelv1.WorkloadDaemonSet)), live: onNodes(4), number: 1},
		{name: "a DaemonSet without nodes", stable: ofWorkload(modelv1.WorkloadDaemonSet), changes: without(ofWorkload(modelv1.WorkloadDaemonSet)), live: onNodes(0)},
		{name: "a DaemonSet that is gone", stable: ofWorkload(modelv1.WorkloadDaemonSet), changes: without(ofWorkload(modelv1.WorkloadDaemonSet))},
		{name: "blue-green of a DaemonSet", stable: ofWorkload(modelv1.WorkloadDaemonSet),
			changes: []func(*modelv1.ModelBox){blueGreen, ofWorkload(modelv1.WorkloadDaemonSet)}, live: onNodes(4)},
		{name: "a StatefulSet", stable: ofWorkload(modelv1.WorkloadStatefulSet), changes: without(ofWorkload(modelv1.WorkloadStatefulSet)), number: 1},
		{name: "blue-green", changes: without(blueGreen), number: 1},
		{name: "blue-green of a StatefulSet", stable: ofWorkload(modelv1.WorkloadStatefulSet),
			changes: []func(*modelv1.ModelBox){blueGreen, ofWorkload(modelv1.WorkloadStatefulSet)}},
		{name: "stable pods of another workload", stable: ofWorkload(modelv1.WorkloadStatefulSet), obstacle: "the stable pods belong to a StatefulSet"},
		{name: "other target ports", changes: without(otherTarget), obstacle: "the new revision has other target ports, and one Service leads to all pods"},
		{name: "other target ports with a route", changes: []func(*modelv1.ModelBox){otherTarget, withRoute}, number: 1},
		{name: "other target ports of blue-green", changes: []func(*modelv1.ModelBox){otherTarget, blueGreen}, number: 1},
		{name: "stable pods that are not recorded", live: func(live *Live) { live.StableRecord = "" }, obstacle: "the stable pods are not recorded"},
		{name: "storage that the stable pods need", stable: func(box *modelv1.ModelBox) {
			box.Spec.Storage = []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}}}
		}, obstacle: `storage "data" is no longer in the box`},
	} {
		t.Run(row.name, func(t *testing.T) {
			stable := row.stable
			if stable == nil {
				stable = func(*modelv1.ModelBox) {}
			}
			box, live := steppedFrom(t, stable, row.changes...)
			if row.live != nil {
				row.live(&live)
			}
			steps, err := StepsOf(box, live)
			if obstacle := ""; err != nil {
				if obstacle = err.Error(); obstacle != row.obstacle {
					t.Errorf("the obstacle is %q, want %q", obstacle, row.obstacle)
				}
			} else if row.obstacle != "" {
				t.Errorf("there is no obstacle, want %q", row.obstacle)
			}
			var number int32
			if steps != nil {
				number = steps.Number
			}
			if number != row.number {
				t.Errorf("the step is %d, want %d", number, row.number)
			}
		})
	}
}

// An autoscaler that sets the number of pods of a Deployment keeps doing so: the candidate has its share of that number.
func TestStepsOfAnAutoscaledBox(t *testing.T) {
	box, live := steppedBox(t, withRoute, withCandidate(0), withTraffic(modelv1.TrafficToStable, 0))
	live.IsScaled, live.Workload = true, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](8)}}
	steps, err := StepsOf(box, live)
	if err != nil {
		t.Fatal(err)
	}
	if steps.Replicas != 8 || steps.NewReplicas() != 2 {
		t.Errorf("%d of %d pods have the new revision, want 2 of 8", steps.NewReplicas(), steps.Replicas)
	}
}

func TestRecordedRolloutInSteps(t *testing.T) {
	for _, row := range []struct {
		name        string
		annotations []string
		want        *modelv1.ModelBoxRolloutStatus
	}{
		{"in steps", []string{modelv1.StableRecordAnnotation, modelv1.RolloutStepAnnotation, modelv1.RolledBackAnnotation},
			&modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](2)}},
		{"after the steps", []string{modelv1.StableRecordAnnotation, modelv1.RolloutStepAnnotation},
			&modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](2)}},
		{"not in steps", []string{modelv1.StableRecordAnnotation}, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing}},
		{"rolled back", []string{modelv1.StableRecordAnnotation, modelv1.RolledBackAnnotation}, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutRolledBack, Reason: "Unknown", Message: "the store was lost, and with it the reason"}},
		{"without the stable box", []string{modelv1.RolloutStepAnnotation}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box, live := steppedBox(t)
			annotations := map[string]string{
				modelv1.StableRecordAnnotation: live.StableRecord,
				modelv1.RolloutStepAnnotation:  "2",
				modelv1.RolledBackAnnotation:   strconv.FormatInt(box.Generation, 10),
			}
			for annotation := range annotations {
				if !slices.Contains(row.annotations, annotation) {
					delete(annotations, annotation)
				}
			}
			if row.want != nil {
				row.want.PodsHash, row.want.Stable = box.Status.Rollout.PodsHash, box.Status.Rollout.Stable
				row.want.Candidate = &modelv1.ModelBoxRolloutCandidate{PodsHash: row.want.PodsHash, Generation: box.Generation}
			}
			got := RecordedRollout(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}, box)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
