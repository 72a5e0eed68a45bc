// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPodDebuggersNeedEphemeralContainers(t *testing.T) {
	const (
		debug   = "jane: patch pods/ephemeralcontainers./ in default"
		restart = "jane: create modelboxes/restart.model.github.com/ in default"

		forbidden = `poddebuggers.model.github.com "tools" is forbidden: `
		noDebug   = `spec: acts on pods, and user "jane" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "default"`
		noRestart = `spec.whenDeleted: acts on pods, and user "jane" cannot create resource "modelboxes/restart" in API group "model.github.com" in the namespace "default"`
	)
	debugger := func(changes ...func(*model.PodDebugger)) *model.PodDebugger {
		debugger := &model.PodDebugger{Spec: model.PodDebuggerSpec{Image: "busybox", WhenDeleted: model.PodDebuggerRetain}}
		debugger.Namespace, debugger.Name = "default", "tools"
		for _, change := range changes {
			change(debugger)
		}
		return debugger
	}
	labelled := func(debugger *model.PodDebugger) { debugger.Labels = map[string]string{"team": "shop"} }
	selecting := func(debugger *model.PodDebugger) { debugger.Spec.Selector.MatchLabels = map[string]string{"app": "a"} }
	restarting := func(debugger *model.PodDebugger) { debugger.Spec.WhenDeleted = model.PodDebuggerRestartBoxes }
	for _, row := range []struct {
		name          string
		granted       []string
		old, debugger *model.PodDebugger
		asked         []string
		err           string
	}{
		{"a new one", nil, nil, debugger(), []string{debug}, noDebug},
		{"who may debug may", []string{debug}, nil, debugger(), []string{debug}, ""},
		{"other pods", nil, debugger(), debugger(selecting), []string{debug}, noDebug},
		{"a label", nil, debugger(), debugger(labelled), nil, ""},
		{"one that restarts boxes", []string{debug}, nil, debugger(restarting), []string{debug, restart}, noRestart},
		{"one that restarts boxes of others", []string{debug}, debugger(restarting), debugger(restarting, selecting), []string{debug, restart}, noRestart},
		{"who may restart them may", []string{debug, restart}, debugger(), debugger(restarting), []string{debug, restart}, ""},
		{"one that no longer restarts boxes", []string{debug}, debugger(restarting), debugger(), []string{debug}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			permissions := &permissions{granted: map[string]bool{}}
			for _, granted := range row.granted {
				permissions.granted[granted] = true
			}
			plugin := newPlugin()
			plugin.SetUnconditionalAuthorizer(permissions)
			operation, old := admission.Create, runtime.Object(nil)
			if row.old != nil {
				operation, old = admission.Update, row.old
			}
			err := plugin.Validate(t.Context(), admission.NewAttributesRecord(row.debugger, old,
				modelv1.SchemeGroupVersion.WithKind("PodDebugger"), "default", "tools",
				modelv1.SchemeGroupVersion.WithResource("poddebuggers"), "", operation, nil, false, &user.DefaultInfo{Name: "jane"}), nil)
			got, want := "", ""
			if err != nil {
				got = err.Error()
			}
			if row.err != "" {
				want = forbidden + row.err
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if diff := cmp.Diff(row.asked, permissions.asked); diff != "" {
				t.Errorf("asked, -want +got:\n%s", diff)
			}
		})
	}
}
