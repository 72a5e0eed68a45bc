// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestTable(t *testing.T) {
	ready := func(generation int64) func(*model.Network) {
		return func(network *model.Network) {
			network.Status = model.NetworkStatus{
				Boxes: []string{"db", "web"}, BoxesOmitted: 1, UsedAddresses: 4, FreeAddresses: 65529,
				Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: "pods can be attached", ObservedGeneration: generation}},
			}
		}
	}
	list := &model.NetworkList{Items: []model.Network{
		*lan(),
		*lan(ready(3)),
		*lan(ready(2)),
		*lan(ready(3), func(network *model.Network) {
			network.DeletionTimestamp, network.Finalizers = &metav1.Time{Time: time.Now()}, []string{"model.github.com/network-protection"}
		}),
		// A minute's worth of doubt: the unit of days does not change while the test runs.
		*lan(func(network *model.Network) {
			network.CreationTimestamp = metav1.NewTime(time.Now().Add(-100*24*time.Hour - time.Hour))
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
	if got, want := strings.Join(narrow, " ")+" | "+strings.Join(wide, " "), "NAME TYPE CIDR GATEWAY STATUS BOXES AGE | USED FREE MESSAGE"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if table.ResourceVersion != "12" {
		t.Errorf("the table is of version %q", table.ResourceVersion)
	}
	var got [][]any
	for _, row := range table.Rows {
		got = append(got, row.Cells)
	}
	const notSeen = "the controller has not seen this network yet"
	want := [][]any{
		{"lan", "bridge", "192.168.0.0/16", "192.168.0.1", "Pending", int64(0), "<unknown>", int64(0), int64(0), notSeen},
		{"lan", "bridge", "192.168.0.0/16", "192.168.0.1", "Ready", int64(3), "<unknown>", int64(4), int64(65529), "pods can be attached"},
		{"lan", "bridge", "192.168.0.0/16", "192.168.0.1", "Pending", int64(3), "<unknown>", int64(4), int64(65529), notSeen},
		{"lan", "bridge", "192.168.0.0/16", "192.168.0.1", "Terminating", int64(3), "<unknown>", int64(4), int64(65529), "waits for no box to use it: db, web and 1 more"},
		{"lan", "bridge", "192.168.0.0/16", "192.168.0.1", "Pending", int64(0), "100d", int64(0), int64(0), notSeen},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows, -want +got:\n%s", diff)
	}
}

func TestTableOfAnotherKindIsAnError(t *testing.T) {
	if _, err := TableConvertor.ConvertToTable(t.Context(), &model.ModelBoxList{Items: []model.ModelBox{{}}}, nil); err == nil {
		t.Error("a list of boxes was printed as networks")
	}
}
