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
	// A minute's worth of doubt: the unit of days does not change while the test runs.
	old := lan(func(network *model.Network) {
		network.CreationTimestamp = metav1.NewTime(time.Now().Add(-100*24*time.Hour - time.Hour))
	})
	list := &model.NetworkList{Items: []model.Network{*lan(), *named("mail", "192.168.7.0/24")}}
	list.ResourceVersion = "12"
	table, err := TableConvertor{}.ConvertToTable(t.Context(), list, nil)
	if err != nil {
		t.Fatal(err)
	}
	var headers []string
	for _, column := range table.ColumnDefinitions {
		if column.Description == "" || column.Priority != 0 {
			t.Errorf("column %s has the description %q and the priority %d", column.Name, column.Description, column.Priority)
		}
		headers = append(headers, strings.ToUpper(column.Name))
	}
	if got, want := strings.Join(headers, " "), "NAME CIDR GATEWAY AGE"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if table.ResourceVersion != "12" {
		t.Errorf("the table is of version %q", table.ResourceVersion)
	}
	oldTable, err := TableConvertor{}.ConvertToTable(t.Context(), old, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]any
	for _, row := range append(table.Rows, oldTable.Rows...) {
		got = append(got, row.Cells)
	}
	want := [][]any{
		{"lan", "192.168.0.0/16", "192.168.0.1", "<unknown>"},
		{"mail", "192.168.7.0/24", "192.168.0.1", "<unknown>"},
		{"lan", "192.168.0.0/16", "192.168.0.1", "100d"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows, -want +got:\n%s", diff)
	}
}

func TestTableOfAnotherKindIsAnError(t *testing.T) {
	if _, err := (TableConvertor{}).ConvertToTable(t.Context(), &model.ModelBoxList{Items: []model.ModelBox{{}}}, nil); err == nil {
		t.Error("a list of boxes was printed as networks")
	}
}
