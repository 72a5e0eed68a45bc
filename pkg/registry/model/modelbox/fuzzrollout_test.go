// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// pairsOfABox is the number of rollouts to each box without fuzzing. Each is rendered in all states.
const pairsOfABox = 1

// FuzzRollout renders a random box in every state of a rollout from another random box.
func FuzzRollout(f *testing.F) {
	boxes, everyField := fuzzer.Documents(f, "ModelBox", "../../../../artifacts/samples/*.yaml", "../../../render/modelbox/testdata/*.box.yaml"),
		fuzzer.Documents(f, "ModelBox", "../../../apis/model/v1/testdata/HEAD/*.yaml")
	editor := fuzzer.NewEditor(append(everyField, boxes...)...)
	random := rand.New(rand.NewChaCha8([32]byte{}))
	for range pairsOfABox * len(boxes) {
		choices := make([]byte, random.IntN(maxChoices))
		for i := range choices {
			choices[i] = byte(random.UintN(256))
		}
		f.Add(uint16(random.IntN(len(boxes))), uint16(random.IntN(len(boxes))), choices)
	}
	f.Fuzz(func(t *testing.T, stableSeed, seed uint16, choices []byte) {
		stable := acceptedBox(t, editor.Edit(boxes[int(stableSeed)%len(boxes)], nil))
		box := acceptedBox(t, editor.Edit(boxes[int(seed)%len(boxes)], choices))
		if stable == nil || box == nil || stable.Spec.Workload != box.Spec.Workload {
			return
		}
		box.ObjectMeta = *stable.ObjectMeta.DeepCopy()
		box.Generation = 2
		for _, state := range rolloutStates(box.Spec.Workload) {
			expectRenderedInRollout(t, box, stable, state)
		}
		expectRenderedInResize(t, box, stable)
	})
}

// acceptedBox returns nil for a box that the API refuses.
func acceptedBox(t *testing.T, document any) *modelv1.ModelBox {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	box, err := decode(data)
	if err != nil || !isAccepted(t, box) {
		return nil
	}
	return asServed(t, box)
}

// rolloutState is a state of a rollout without the hashes of its pods.
type rolloutState struct {
	name    string
	rollout modelv1.ModelBoxRollout
	status  modelv1.ModelBoxRolloutStatus
}

// rolloutStates returns the states of failed rollouts, and of rollouts in steps with every traffic.
func rolloutStates(workload modelv1.Workload) []rolloutState {
	var states []rolloutState
	for _, phase := range []modelv1.RolloutPhase{modelv1.RolloutProgressing, modelv1.RolloutPaused, modelv1.RolloutRolledBack} {
		states = append(states, withoutSteps(phase))
	}
	canary := modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureNone, Type: ptr.To(modelv1.RolloutCanary),
		Steps: []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "5m"}, {Weight: 50, Pause: modelv1.PauseManual}}}
	types := []modelv1.ModelBoxRollout{canary}
	if workload == modelv1.WorkloadDeployment {
		types = append(types, modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureNone, Type: ptr.To(modelv1.RolloutBlueGreen)})
	}
	for _, ofType := range types {
		for step := range int32(4) {
			for _, candidate := range []*modelv1.ModelBoxRolloutCandidate{nil, {Generation: 2}, {Generation: 2, AvailableReplicas: 1}, {PodsHash: "former", Generation: 1, AvailableReplicas: 1}} {
				for _, traffic := range []*modelv1.ModelBoxRolloutTraffic{nil, {Service: modelv1.TrafficToStable, StableHash: "5d8f7c9b6"}, {Service: modelv1.TrafficToStable, StableHash: "5d8f7c9b6", Weight: 25},
					{Service: modelv1.TrafficToCandidate}, {Service: modelv1.TrafficToAll}} {
					states = append(states, rolloutState{
						name:    fmt.Sprintf("%s in step %d with candidate %v and traffic %v", *ofType.Type, step, candidate, traffic),
						rollout: ofType,
						status:  modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: &step, Candidate: candidate, Traffic: traffic},
					})
				}
			}
		}
	}
	return states
}

// withoutSteps returns a state of a rollout that has no steps.
func withoutSteps(phase modelv1.RolloutPhase) rolloutState {
	return rolloutState{string(phase), modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}, modelv1.ModelBoxRolloutStatus{Phase: phase}}
}

func expectRenderedInRollout(t *testing.T, of, stable *modelv1.ModelBox, state rolloutState) {
	t.Helper()
	box := of.DeepCopy()
	box.Spec.Rollout, box.Status.Rollout = state.rollout.DeepCopy(), state.status.DeepCopy()
	record, err := modelboxrender.Record(stable)
	if err != nil {
		t.Fatalf("recording the stable box: %v", err)
	}
	status := box.Status.Rollout
	status.PodsHash, status.Stable = podsHash(t, box), &modelv1.ModelBoxRolloutRevision{PodsHash: podsHash(t, stable), Generation: 1}
	if status.Candidate != nil && status.Candidate.PodsHash == "" {
		status.Candidate.PodsHash = status.PodsHash
	}
	live := modelboxrender.Live{StableRecord: record, Workload: workloadOf(t, stable)}
	children, err := modelboxrender.RenderForLive(box, live)
	if err != nil {
		t.Errorf("%s: rendering: %v", state.name, err)
		return
	}
	names := sets.New[string]()
	for _, child := range children {
		if name := child.GetKind() + "/" + child.GetName(); names.Has(name) {
			t.Errorf("%s: there are two of %s", state.name, name)
		} else {
			names.Insert(name)
		}
	}
	expectCapacity(t, box, children, state.name)
}

// expectRenderedInResize renders the box in all phases of a resize of the pods of the stable box. Users who can write the status can write
// phases that do not fit the pods.
func expectRenderedInResize(t *testing.T, of, stable *modelv1.ModelBox) {
	t.Helper()
	box := of.DeepCopy()
	box.Spec.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOnly}
	for _, phase := range []modelv1.ResizePhase{"", modelv1.ResizeInProgress, modelv1.ResizeHalted, modelv1.ResizeCompleting, modelv1.ResizeRestarting} {
		if box.Status.Resize = nil; phase != "" {
			box.Status.Resize = &modelv1.ModelBoxResizeStatus{Phase: phase, PodsHash: podsHash(t, box)}
		}
		for _, begins := range []bool{false, true} {
			live := modelboxrender.Live{Workload: workloadOf(t, stable), BeginsResize: begins}
			if _, err := modelboxrender.RenderForLive(box, live); err != nil {
				t.Errorf("rendering in phase %q of a resize: %v", phase, err)
			}
			if live.Workload == nil {
				continue
			}
			if _, err := modelboxrender.BeginsResize(box, live); err != nil {
				t.Errorf("looking for a resize in phase %q: %v", phase, err)
			}
		}
	}
}

func podsHash(t *testing.T, box *modelv1.ModelBox) string {
	t.Helper()
	hash, err := modelboxrender.PodsHash(box)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// workloadOf returns the workload of a complete rollout of the box, nil for a DaemonSet.
func workloadOf(t *testing.T, box *modelv1.ModelBox) metav1.Object {
	t.Helper()
	for _, child := range renderBox(t, box, modelboxrender.ScaledByBox) {
		var workload metav1.Object
		switch child.GetKind() {
		case "Deployment":
			workload = &appsv1.Deployment{}
		case "StatefulSet":
			workload = &appsv1.StatefulSet{}
		default:
			continue
		}
		toTyped(t, child, workload)
		return workload
	}
	return nil
}

// expectCapacity expects the Deployments of the box to have at least the pods of the box together.
func expectCapacity(t *testing.T, box *modelv1.ModelBox, children []*unstructured.Unstructured, state string) {
	t.Helper()
	if box.Spec.Workload != modelv1.WorkloadDeployment || box.Spec.Autoscaling != nil {
		return
	}
	var replicas int64
	for _, child := range children {
		if child.GetKind() == "Deployment" {
			ofChild, _, _ := unstructured.NestedInt64(child.Object, "spec", "replicas")
			replicas += ofChild
		}
	}
	if wanted := int64(ptr.Deref(box.Spec.Replicas, 1)); replicas < wanted {
		t.Errorf("%s: the Deployments have %d pods, and the box %d", state, replicas, wanted)
	}
}
