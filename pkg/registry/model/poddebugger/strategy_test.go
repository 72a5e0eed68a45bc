// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

var (
	_ rest.RESTCreateStrategy = Strategy{}
	_ rest.RESTUpdateStrategy = Strategy{}
	_ rest.RESTDeleteStrategy = Strategy{}

	_ rest.ResetFieldsStrategy = Strategy{}
)

func newStrategy() Strategy {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return NewStrategy(scheme)
}

// tools returns a valid PodDebugger of generation 3.
func tools(changes ...func(*model.PodDebugger)) *model.PodDebugger {
	debugger := &model.PodDebugger{
		ObjectMeta: metav1.ObjectMeta{Name: "tools", Namespace: "default", UID: "1", ResourceVersion: "7", Generation: 3},
		Spec: model.PodDebuggerSpec{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, Image: "busybox:1.37",
			Profile: model.DebugProfileGeneral, MaxPods: ptr.To[int32](10), WhenDeleted: model.PodDebuggerRetain,
		},
	}
	for _, change := range changes {
		change(debugger)
	}
	return debugger
}

func withPods(pods ...model.PodDebuggerPod) func(*model.PodDebugger) {
	return func(debugger *model.PodDebugger) {
		debugger.Status.ContainerName, debugger.Status.Pods = "tools-x", pods
	}
}

func debugged(name, box string) model.PodDebuggerPod {
	return model.PodDebuggerPod{Name: name, Box: box, State: &corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func TestPrepareForCreateStartsTheGenerationAndTheStatus(t *testing.T) {
	debugger := tools(withPods(debugged("a", "")))
	newStrategy().PrepareForCreate(t.Context(), debugger)
	want := tools(func(debugger *model.PodDebugger) {
		debugger.Generation = 1
		debugger.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Pending", Message: "the controller has not seen this PodDebugger yet",
		}}
	})
	if diff := cmp.Diff(want, debugger, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSpecAndStatusAreWrittenApart(t *testing.T) {
	old := tools(withPods(debugged("a", "")))
	both := func() *model.PodDebugger {
		return tools(withPods(debugged("b", "")), func(debugger *model.PodDebugger) {
			debugger.Labels, debugger.Spec.MaxPods = map[string]string{"team": "shop"}, ptr.To[int32](1)
		})
	}
	debugger := both()
	newStrategy().PrepareForUpdate(t.Context(), debugger, old)
	if diff := cmp.Diff(old.Status, debugger.Status); diff != "" {
		t.Errorf("the status of an update of the main resource, -want +got:\n%s", diff)
	}
	if debugger.Generation != 4 {
		t.Errorf("generation %d after a change of the spec, want 4", debugger.Generation)
	}
	debugger = both()
	NewStatusStrategy(newStrategy()).PrepareForUpdate(t.Context(), debugger, old)
	if diff := cmp.Diff(tools(withPods(debugged("b", ""))), debugger); diff != "" {
		t.Errorf("an update of the status, -want +got:\n%s", diff)
	}
	debugger = tools(func(debugger *model.PodDebugger) { debugger.Labels = map[string]string{"team": "shop"} })
	newStrategy().PrepareForUpdate(t.Context(), debugger, tools())
	if debugger.Generation != 3 {
		t.Errorf("generation %d after a change of a label, want 3", debugger.Generation)
	}
}

func TestStatusUpdatesAreValidated(t *testing.T) {
	debugger := tools(func(debugger *model.PodDebugger) { debugger.Status.RunningPods = -1 })
	if got := NewStatusStrategy(newStrategy()).ValidateUpdate(t.Context(), debugger, tools()); len(got) != 1 || got[0].Field != "status.runningPods" {
		t.Errorf("got %v", got)
	}
}

func TestWarningsOnDelete(t *testing.T) {
	restarting := func(debugger *model.PodDebugger) { debugger.Spec.WhenDeleted = model.PodDebuggerRestartBoxes }
	refused := model.PodDebuggerPod{Name: "refused", Refusal: "no"}
	many := make([]model.PodDebuggerPod, 0, 12)
	for _, letter := range "abcdefghijkl" {
		many = append(many, debugged(string(letter), ""))
	}
	still := warn.ContainerStays("tools-x", "")
	for _, row := range []struct {
		name     string
		debugger *model.PodDebugger
		want     []string
	}{
		{"no pod", tools(), nil},
		{"a pod that was refused", tools(withPods(refused)), nil},
		{"pods", tools(withPods(debugged("a", ""), debugged("web-0", "web"), refused)), []string{still + "a, web-0"}},
		{"many pods", tools(withPods(many...)), []string{still + "a, b, c, d, e, f, g, h, i, j and 2 more"}},
		{"boxes that are restarted", tools(withPods(debugged("a", ""), debugged("web-0", "web"), debugged("web-1", "web"), debugged("db-0", "db")), restarting),
			[]string{still + "a", warn.BoxesRestart("tools-x", "db, web")}},
	} {
		if diff := cmp.Diff(row.want, WarningsOnDelete(row.debugger)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", row.name, diff)
		}
	}
}
