// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestTable(t *testing.T) {
	ready := func(generation int64) func(*model.PodDebugger) {
		return func(debugger *model.PodDebugger) {
			debugger.Status = model.PodDebuggerStatus{
				ContainerName: "tools-x", SelectedPods: 5, DebuggedPods: 4, RunningPods: 3, RefusedPods: 1,
				Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: "the container is in 4 pods", ObservedGeneration: generation}},
			}
		}
	}
	list := &model.PodDebuggerList{Items: []model.PodDebugger{
		*tools(),
		*tools(ready(3)),
		*tools(ready(2)),
		*tools(ready(3), func(debugger *model.PodDebugger) {
			debugger.DeletionTimestamp, debugger.Finalizers = &metav1.Time{Time: time.Now()}, []string{"model.github.com/restart-boxes"}
		}),
	}}
	list.ResourceVersion = "12"
	table, err := TableConvertor.ConvertToTable(t.Context(), list, nil)
	if err != nil {
		t.Fatal(err)
	}
	var narrow, wide []string
	for _, column := range table.ColumnDefinitions {
		if column.Description == "" {
			t.Errorf("column %s has no description", column.Name)
		}
		if column.Priority == 0 {
			narrow = append(narrow, strings.ToUpper(column.Name))
		} else {
			wide = append(wide, strings.ToUpper(column.Name))
		}
	}
	if got, want := strings.Join(narrow, " ")+" | "+strings.Join(wide, " "), "NAME SELECTOR IMAGE PODS STATUS AGE MESSAGE | CONTAINER PROFILE SELECTED REFUSED"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	var got [][]any
	for _, row := range table.Rows {
		got = append(got, row.Cells)
	}
	const notSeen = "the controller has not seen this PodDebugger yet"
	want := [][]any{
		{"tools", "app=a", "busybox:1.37", "0/0", "Pending", "<unknown>", "<none>", "general", int64(0), int64(0), notSeen},
		{"tools", "app=a", "busybox:1.37", "3/4", "Ready", "<unknown>", "tools-x", "general", int64(5), int64(1), "the container is in 4 pods"},
		{"tools", "app=a", "busybox:1.37", "3/4", "Pending", "<unknown>", "tools-x", "general", int64(5), int64(1), notSeen},
		{"tools", "app=a", "busybox:1.37", "3/4", "Terminating", "<unknown>", "tools-x", "general", int64(5), int64(1), "waits for the boxes to be restarted whose pods have the container"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows, -want +got:\n%s", diff)
	}
}

func TestTableOfAnotherKindIsAnError(t *testing.T) {
	if _, err := TableConvertor.ConvertToTable(t.Context(), &model.ModelBoxList{Items: []model.ModelBox{{}}}, nil); err == nil {
		t.Error("a list of boxes was printed as PodDebuggers")
	}
}
