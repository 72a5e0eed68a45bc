// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestAnnotations(t *testing.T) {
	const wrong = `metadata.annotations[model.github.com/adopt]: Unsupported value: "yes": supported values: "true", "false"`
	for _, row := range []struct {
		name     string
		old, now map[string]string
		want     string
	}{
		{"none", nil, nil, ""},
		{"of another controller", nil, map[string]string{"example.com/adopt": "yes"}, ""},
		{"adoption", nil, map[string]string{modelv1.AdoptAnnotation: "true"}, ""},
		{"no adoption", nil, map[string]string{modelv1.AdoptAnnotation: "false"}, ""},
		{"what means nothing", nil, map[string]string{modelv1.AdoptAnnotation: "yes"}, wrong},
		{"what meant nothing before", map[string]string{modelv1.AdoptAnnotation: "yes"}, map[string]string{modelv1.AdoptAnnotation: "yes"}, ""},
		{"what meant nothing before, mended", map[string]string{modelv1.AdoptAnnotation: "yes"}, map[string]string{modelv1.AdoptAnnotation: "true"}, ""},
		{"what is changed to mean nothing", map[string]string{modelv1.AdoptAnnotation: "true"}, map[string]string{modelv1.AdoptAnnotation: "yes"}, wrong},
		{"an empty value that is added", map[string]string{}, map[string]string{modelv1.AdoptAnnotation: ""}, strings.Replace(wrong, "yes", "", 1)},
		{"an empty value before", map[string]string{modelv1.AdoptAnnotation: ""}, map[string]string{modelv1.AdoptAnnotation: ""}, ""},
		{"an empty value before, taken away", map[string]string{modelv1.AdoptAnnotation: ""}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			old.ResourceVersion, box.ResourceVersion = "1", "1"
			old.Annotations, box.Annotations = row.old, row.now
			errs := validateUpdate(t.Context(), box, old)
			if row.old == nil {
				errs = ValidateModelBox(t.Context(), box)
			}
			if got := errs.ToAggregate(); (got == nil) != (row.want == "") || got != nil && got.Error() != row.want {
				t.Errorf("got %v, want %q", got, row.want)
			}
		})
	}
}
