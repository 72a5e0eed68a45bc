// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindingsAreToldOnceForAllBoxes(t *testing.T) {
	var out bytes.Buffer
	err := printFindings(&out, []finding{
		{note, "shop", "web", "spec.replicas", "is set to its default, 1"},
		{note, "shop", "api", "spec.replicas", "is set to its default, 1"},
		{refused, "shop", "api", "spec.image", "Required value"},
		{refused, "", "", "", "the operator runs"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `SEVERITY   BOX                   FIELD           MESSAGE
Refused    shop/api              spec.image      Required value
Refused    <cluster>             <none>          the operator runs
Note       shop/web and 1 more   spec.replicas   is set to its default, 1
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDryRunTakesTheStrategiesOfKubectl(t *testing.T) {
	for _, row := range []struct {
		value        string
		isDry, sends bool
		isRefused    bool
		option       []string
	}{
		{value: "none", sends: true},
		{value: "client", isDry: true},
		{value: "server", isDry: true, sends: true, option: []string{"All"}},
		{value: "true", isRefused: true},
	} {
		t.Run(row.value, func(t *testing.T) {
			var d dryRun
			if err := d.Set(row.value); (err != nil) != row.isRefused {
				t.Fatalf("got %v", err)
			}
			if row.isRefused {
				return
			}
			if d.isDry() != row.isDry || d.sends() != row.sends {
				t.Errorf("is dry: %v, sends: %v", d.isDry(), d.sends())
			}
			if diff := cmp.Diff(row.option, d.option()); diff != "" {
				t.Errorf("option (-want +got):\n%s", diff)
			}
		})
	}
}
