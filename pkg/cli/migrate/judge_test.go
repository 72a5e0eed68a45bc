// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// custom returns a box as a custom resource has it.
func custom(name string, spec map[string]any, metadata map[string]any) *unstructured.Unstructured {
	all := map[string]any{"namespace": "shop", "name": name, "uid": "uid-of-" + name}
	maps.Copy(all, metadata)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": all, "spec": spec,
	}}
}

func TestJudgeBoxSaysWhatTheServerRefusesAndChanges(t *testing.T) {
	type told struct {
		Severity severity
		Field    string
		Message  string
	}
	complete := map[string]any{
		"image": "nginx:1", "replicas": int64(2), "rollingUpdate": "30%", "minReadySeconds": int64(0), "workload": "Deployment",
		"strategy": "RollingUpdate", "resourceType": "custom", "defaultProbes": "Enabled",
	}
	with := func(fields map[string]any) map[string]any {
		spec := maps.Clone(complete)
		maps.Copy(spec, fields)
		return spec
	}
	for _, row := range []struct {
		name   string
		object *unstructured.Unstructured
		want   []told
	}{
		{"nothing is to be said of a box with everything", custom("web", complete, nil), nil},
		{"the status of an operator stays behind", func() *unstructured.Unstructured {
			object := custom("web", complete, nil)
			object.Object["status"] = map[string]any{"phase": "Running", "conditions": "good"}
			return object
		}(), nil},
		{"a default is reported", custom("web", func() map[string]any { spec := with(nil); delete(spec, "replicas"); return spec }(), nil),
			[]told{{note, "spec.replicas", "is set to its default, 1"}}},
		{"a field that is not known is refused", custom("web", with(map[string]any{"owner": "me"}), nil),
			[]told{{refused, "", `is unknown to the server: unknown field "spec.owner"`}}},
		{"a name that no Service can have is refused", custom("no.label", complete, nil),
			[]told{{refused, "metadata.name", `Invalid value: "no.label": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`}}},
		{"a box without an image is refused", custom("web", with(map[string]any{"image": ""}), nil),
			[]told{{refused, "spec.image", `Required value: must name an image, such as "nginx:1.7.9"`}}},
		{"a finalizer is dropped", custom("web", complete, map[string]any{"finalizers": []any{"example.com/operator"}}),
			[]told{{changed, "metadata.finalizers", "example.com/operator is removed from the custom resource, and the box does not get it: no controller would remove it there"}}},
		{"a box that is being deleted is refused", custom("web", complete, map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}),
			[]told{{refused, "metadata.deletionTimestamp", "the box is being deleted: wait until the deletion is complete"}}},
		{"what is of another type is refused", custom("web", with(map[string]any{"replicas": "two"}), nil),
			[]told{{refused, "", "cannot be decoded: json: cannot unmarshal string into Go struct field ModelBoxSpec.spec.replicas of type int32"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := &findings{}
			f.judgeBox(t.Context(), row.object)
			var got []told
			for _, finding := range f.list {
				got = append(got, told{finding.Severity, finding.Field, finding.Message})
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
