// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package costtest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCompare(t *testing.T) {
	for _, row := range []struct {
		name      string
		want, got Counts
		exceeded  []string
		lower     []string
	}{
		{name: "the same", want: Counts{Allocations: {"get": 200}, Requests: {"create, patch services": 1}},
			got: Counts{Allocations: {"get": 200}, Requests: {"create, patch services": 1}}},
		{name: "5 % more allocations", want: Counts{Allocations: {"get": 200}}, got: Counts{Allocations: {"get": 210}}},
		{name: "more allocations", want: Counts{Allocations: {"create": 1000, "get": 200, "list": 10}},
			got:      Counts{Allocations: {"create": 1000, "get": 211, "list": 11}},
			exceeded: []string{"get, allocations: 211, in v1.0 200 (+5.5 %)", "list, allocations: 11, in v1.0 10 (+10.0 %)"}},
		{name: "more bytes", want: Counts{Bytes: {"get as JSON": 2000}}, got: Counts{Bytes: {"get as JSON": 2101}},
			exceeded: []string{"get as JSON, bytes: 2101, in v1.0 2000 (+5.0 %)"}},
		{name: "5 % fewer allocations", want: Counts{Allocations: {"get": 210}}, got: Counts{Allocations: {"get": 200}}},
		{name: "fewer allocations", want: Counts{Allocations: {"get": 200}}, got: Counts{Allocations: {"get": 100}},
			lower: []string{"get, allocations: 100, in v1.0 200 (-50.0 %)"}},
		{name: "one more of 100 requests", want: Counts{Requests: {"create, patch services": 100}},
			got:      Counts{Requests: {"create, patch services": 101}},
			exceeded: []string{"create, patch services, requests: 101, in v1.0 100 (+1.0 %)"}},
		{name: "a request that is new", want: Counts{}, got: Counts{Requests: {"delete, patch services": 1}},
			exceeded: []string{"delete, patch services, requests: 1, in v1.0 0"}},
		{name: "a request that is gone", want: Counts{Requests: {"create, get services": 1}}, got: Counts{},
			lower: []string{"create, get services, requests: 0, in v1.0 1 (-100.0 %)"}},
		{name: "a count that is new", want: Counts{}, got: Counts{Allocations: {"get": 200}},
			exceeded: []string{"get, allocations: 200, in v1.0 not measured"}},
		{name: "a count that is no longer measured", want: Counts{Bytes: {"get": 200}}, got: Counts{},
			exceeded: []string{"get, bytes: not measured, in v1.0 200"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := compare("v1.0", row.want, row.got)
			if diff := cmp.Diff(comparison{row.exceeded, row.lower}, got, cmp.AllowUnexported(comparison{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLeastRequests(t *testing.T) {
	for _, row := range []struct {
		name  string
		lists [][]string
		want  map[string]int64
	}{
		{"of one list, all", [][]string{{"get pods", "patch services", "get pods"}}, map[string]int64{"get pods": 2, "patch services": 1}},
		{"of several lists, what all have", [][]string{{"get pods", "get pods", "patch services"}, {"get pods", "update pods"}},
			map[string]int64{"get pods": 1}},
		{"of an empty list, none", [][]string{nil, {"get pods"}}, map[string]int64{}},
		{"of no list, none", nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, leastRequests(row.lists), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFixtureIsReadAsWritten(t *testing.T) {
	want := Counts{Allocations: {"get": 200, "list of 100": 100_000}, Requests: {"create, patch services": 1}}
	file := filepath.Join(t.TempDir(), "v1.0", "server.yaml")
	if err := writeFixture(file, "server", want); err != nil {
		t.Fatal(err)
	}
	got, err := readFixture(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

func TestUpdateCommandNamesThePackageAndTheTest(t *testing.T) {
	t.Run("in a subtest", func(t *testing.T) {
		const want = "UPDATE_COUNTS=true go test ./pkg/costtest -run '^TestUpdateCommandNamesThePackageAndTheTest$'"
		if got := updateCommand(t); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestBoxHasTheSizeOfRealOnes(t *testing.T) {
	encoded, err := json.Marshal(Box(t))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(encoded); size < 1400 || size > 1800 {
		t.Errorf("the box has %d bytes as JSON, want some 1.5 KB:\n%s", size, strings.ReplaceAll(string(encoded), ",", ",\n"))
	}
}
