// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// limits is a rolling update that says both.
func limits(maxSurge, maxUnavailable *intstr.IntOrString) *modelv1.RollingUpdate {
	return &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: maxSurge, MaxUnavailable: maxUnavailable}
}

func TestRollingUpdateIsEncodedInTheFormThatItHas(t *testing.T) {
	for encoded, want := range map[string]*modelv1.RollingUpdate{
		`2`:                                 modelv1.NewRollingUpdate(intstr.FromInt32(2)),
		`"30%"`:                             modelv1.NewRollingUpdate(intstr.FromString("30%")),
		`{}`:                                limits(nil, nil),
		`{"maxSurge":1}`:                    limits(ptr.To(intstr.FromInt32(1)), nil),
		`{"maxSurge":1,"maxUnavailable":0}`: limits(ptr.To(intstr.FromInt32(1)), ptr.To(intstr.FromInt32(0))),
		`{"maxUnavailable":"50%"}`:          limits(nil, ptr.To(intstr.FromString("50%"))),
	} {
		t.Run(encoded, func(t *testing.T) {
			var got, fromCBOR modelv1.RollingUpdate
			if err := json.Unmarshal([]byte(encoded), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, &got); diff != "" {
				t.Errorf("decoded, -want +got:\n%s", diff)
			}
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != encoded {
				t.Errorf("encoded again it is %s", data)
			}
			if data, err = cbor.Marshal(got); err != nil {
				t.Fatal(err)
			}
			if err := cbor.Unmarshal(data, &fromCBOR); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, &fromCBOR); diff != "" {
				t.Errorf("by CBOR, -want +got:\n%s", diff)
			}
		})
	}
}

func TestRollingUpdateSaysWhatItTakes(t *testing.T) {
	for _, encoded := range []string{`true`, `1.5`, `99999999999`, `[]`, `{"maxSurg": 1}`, `{"MaxSurge": 1}`, `{"maxSurge": {}}`, `{"maxSurge": 1, "partition": 1}`} {
		err := json.Unmarshal([]byte(`{"rollingUpdate": `+encoded+`}`), &modelv1.ModelBoxSpec{})
		if err == nil {
			t.Errorf("%s is taken", encoded)
			continue
		}
		for _, word := range []string{"rollingUpdate", "30%", "number of pods", "maxSurge", "maxUnavailable"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %s", encoded, err, word)
			}
		}
	}
}

// An IntOrString is what was stored before there was the object.
func TestRollingUpdateIsStoredAsAnIntOrStringWas(t *testing.T) {
	for _, step := range []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(2), intstr.FromString("30%"), intstr.FromString("")} {
		stored, err := step.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var got modelv1.RollingUpdate
		if err := got.Unmarshal(stored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(modelv1.NewRollingUpdate(step), &got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		again, err := got.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, again); diff != "" {
			t.Errorf("%s is stored in another way, -then +now:\n%s", step.String(), diff)
		}
	}
}

func TestRollingUpdateIsPatchedInEveryForm(t *testing.T) {
	for _, row := range []struct{ name, original, patch, want string }{
		{"a value becomes another", `"30%"`, `2`, `2`},
		{"a value becomes an object", `"30%"`, `{"maxSurge":1,"maxUnavailable":0}`, `{"maxSurge":1,"maxUnavailable":0}`},
		{"an object becomes a value", `{"maxSurge":1,"maxUnavailable":0}`, `"30%"`, `"30%"`},
		{"one limit changes", `{"maxSurge":1,"maxUnavailable":0}`, `{"maxSurge":2}`, `{"maxSurge":2,"maxUnavailable":0}`},
		{"one limit goes", `{"maxSurge":1,"maxUnavailable":0}`, `{"maxUnavailable":null}`, `{"maxSurge":1}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := func(rollingUpdate string) []byte { return []byte(`{"spec":{"rollingUpdate":` + rollingUpdate + `}}`) }
			patched, err := strategicpatch.StrategicMergePatch(spec(row.original), spec(row.patch), modelv1.ModelBox{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(spec(row.want)), string(patched)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
