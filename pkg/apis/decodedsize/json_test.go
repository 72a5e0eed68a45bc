// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package decodedsize

import (
	"fmt"
	"strings"
	"testing"
)

// list returns a list that has the element so many times.
func list(element string, times int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", times), ",") + "]"
}

func TestOfJSONRefusesWhatWouldTakeTooMuchMemory(t *testing.T) {
	var entries []string
	for i := range 20000 {
		entries = append(entries, fmt.Sprintf(`"%x":""`, i))
	}
	for _, row := range []struct{ name, data, want string }{
		{"elements of two bytes", `{"spec": {"containers": ` + list("{}", 20000) + `}}`, "spec.containers: Too many: must have at most 16384 items"},
		{"entries", `{"metadata": {"labels": {` + strings.Join(entries, ",") + `}}}`, "metadata.labels: Too many: must have at most 16384 items"},
		{"a field with an escaped name", `{"spec": {"\u0063ontainers": ` + list("{}", 20000) + `}}`, "spec.containers: Too many: must have at most 16384 items"},
		{"a field many times", `{"spec": {` + strings.Repeat(`"containers": `+list("{}", 16000)+`, `, 4) + `"image": ""}}`, "spec.containers: Too large: the decoded object must take at most 64 MiB of memory"},
		{"few elements of many elements", `{"spec": {"containers": ` + list(`{"env": `+list("{}", 1000)+`}`, 200) + `}}`, "spec.containers.env: Too large: the decoded object must take at most 64 MiB of memory"},
		{"a field that JSON has inline", `{"spec": {"volumes": [{"secret": {"items": ` + list(`{}`, 20000) + `}}]}}`, "spec.volumes.secret.items: Too many: must have at most 16384 items"},
		{"what no type has", `{"spec": {"other": ` + list(list("{}", 1000), 200) + `}}`, "spec: Too large: the decoded object must take at most 64 MiB of memory"},
		{"a list", list(list("0", 1000), 200), "object: Too large: the decoded object must take at most 64 MiB of memory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := OfJSON([]byte(row.data), boxType, limit); err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestOfJSONEstimates(t *testing.T) {
	box := int64(boxType.Size())
	for _, row := range []struct {
		name, data string
		want       int64
	}{
		{"an empty object", `{}`, box + valueBytes},
		{"white space", " {\n} ", box + valueBytes},
		{"a field", `{"kind": "ModelBox"}`, box + 2*valueBytes + entryBytes + int64(len(`"kind""ModelBox"`))},
		{"quotation marks in a string", `{"kind": "\"}]\\"}`, box + 2*valueBytes + entryBytes + int64(len(`"kind""\"}]\\"`))},
		{"half an object", `{"spec": {`, box + 2*valueBytes + int64(len(`"spec"`))},
		{"nothing", ``, box + valueBytes},
		{"no JSON", `}]:,`, box + valueBytes},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := OfJSON([]byte(row.data), boxType, limit); err != nil || got != row.want {
				t.Errorf("got %d, %v, want %d", got, err, row.want)
			}
		})
	}
}

func TestOfJSONPatch(t *testing.T) {
	const maxCopied = 256 << 10
	for _, row := range []struct{ name, data, want string }{
		{"an ordinary one", `[{"op": "replace", "path": "/spec/replicas", "value": 3}]`, ""},
		{"many objects", `[{"op": "add", "path": "/spec/containers", "value": ` + list(list("{}", 1000), 60) + `}]`, "object: Too large: the decoded object must take at most 64 MiB of memory"},
		{"a copy", `[{"op": "copy", "from": "/spec", "path": "/spec/x"}]`, "object: Too large: the decoded object must take at most 64 MiB of memory"},
		{"a copy with an escaped letter", `[{"op": "\u0063opy", "from": "/spec", "path": "/spec/x"}]`, "object: Too large: the decoded object must take at most 64 MiB of memory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := ""
			if _, err := OfJSONPatch([]byte(row.data), boxType, maxCopied, limit); err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestYAMLToJSON(t *testing.T) {
	const maxJSON = 1 << 20
	long := strings.Repeat("x", 10<<10)
	for _, row := range []struct{ name, data, want, wantError string }{
		{"JSON", `{"a": 1}`, `{"a": 1}`, ""},
		{"YAML", "a: 1\nb: [x]", `{"a":1,"b":["x"]}`, ""},
		{"an alias", "a: &a x\nb: [*a, *a]", `{"a":"x","b":["x","x"]}`, ""},
		{"many aliases of a long string", "a: &a " + long + "\nb: " + list("*a", 2000), "", "YAML must have at most 1048576 bytes once its aliases are replaced by their values"},
		{"many aliases of a long key", "a: &a " + long + "\nb: " + list("{*a : 1}", 2000), "", "YAML must have at most 1048576 bytes once its aliases are replaced by their values"},
		{"many nodes", "a: " + list("0", 140000), "", "YAML must have at most 262144 bytes unless it is JSON"},
		{"no YAML", "a: [", "", ""},
		{"what JSON does not have", "? [a]\n: b", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, _, err := YAMLToJSON([]byte(row.data), limit, maxJSON)
			gotError := ""
			if err != nil {
				gotError = err.Error()
			}
			if string(got) != row.want || gotError != row.wantError {
				t.Errorf("got %q and the error %q, want %q and %q", got, gotError, row.want, row.wantError)
			}
		})
	}
}
