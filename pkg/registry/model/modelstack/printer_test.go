// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestTable(t *testing.T) {
	ready := func(generation int64, status metav1.ConditionStatus, reason, message string) func(*model.ModelStack) {
		return func(stack *model.ModelStack) {
			stack.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionReady, Status: status, Reason: reason, Message: message, ObservedGeneration: generation}}
		}
	}
	deleted := func(finalizers ...string) func(*model.ModelStack) {
		return func(stack *model.ModelStack) {
			stack.DeletionTimestamp, stack.Finalizers = ptr.To(metav1.Unix(1, 0)), finalizers
		}
	}
	var rows [][]any
	for _, change := range []func(*model.ModelStack){
		func(*model.ModelStack) {},
		func(stack *model.ModelStack) {
			ready(3, metav1.ConditionFalse, "Waiting", "2 of 4 components are ready")(stack)
			stack.Status.ReadyComponents, stack.Status.WaitingFor = 2, "db"
		},
		ready(3, metav1.ConditionTrue, "Ready", "4 of 4 components are ready"),
		ready(2, metav1.ConditionTrue, "Ready", "4 of 4 components are ready"),
		deleted(modelv1.OrderedDeletionFinalizer),
		deleted("orphan", "example.com/backup"),
	} {
		table, err := TableConvertor.ConvertToTable(t.Context(), newStack(t, components, change), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, table.Rows[0].Cells)
	}
	want := [][]any{
		{"shop", "0/4", "Pending", "<none>", "<unknown>", "the controller has not seen this stack yet"},
		{"shop", "2/4", "Waiting", "db", "<unknown>", "2 of 4 components are ready"},
		{"shop", "0/4", "Ready", "<none>", "<unknown>", "4 of 4 components are ready"},
		{"shop", "0/4", "Pending", "<none>", "<unknown>", "the controller has not seen the last change yet"},
		{"shop", "0/4", "Terminating", "<none>", "<unknown>", "waits for its components to be deleted in order"},
		{"shop", "0/4", "Terminating", "<none>", "<unknown>", "waits for its children to be orphaned, and for the finalizer example.com/backup to be removed"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestColumns(t *testing.T) {
	var narrow, wide []string
	for _, column := range columns {
		if column.Description == "" {
			t.Errorf("column %s has no description", column.Name)
		}
		if column.Priority == 0 {
			narrow = append(narrow, strings.ToUpper(column.Name))
		} else {
			wide = append(wide, strings.ToUpper(column.Name))
		}
	}
	if diff := cmp.Diff([][]string{{"NAME", "READY", "STATUS", "WAITING FOR", "AGE"}, {"MESSAGE"}}, [][]string{narrow, wide}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSelectableFields(t *testing.T) {
	stack := newStack(t, components)
	for status, want := range map[metav1.ConditionStatus]string{metav1.ConditionTrue: "true", metav1.ConditionUnknown: "false"} {
		stack.Status.Conditions[0].Status = status
		_, fields, err := GetAttrs(stack)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"metadata.name": "shop", "metadata.namespace": "default", "status.ready": want} {
			if fields.Get(name) != value {
				t.Errorf("%s is %q, want %q", name, fields.Get(name), value)
			}
			if _, _, err := scheme.ConvertFieldLabel(modelv1.SchemeGroupVersion.WithKind("ModelStack"), name, value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
