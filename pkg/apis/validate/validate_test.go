// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func errorStrings(errs field.ErrorList) []string {
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	return got
}

func TestUnique(t *testing.T) {
	names, path := Unique[string]{}, field.NewPath("names")
	var errs field.ErrorList
	for i, name := range []string{"a", "", "b", "", "a"} {
		errs = append(errs, names.Add(name, path.Index(i))...)
	}
	want := []string{`names[4]: Duplicate value: "a": names[0] has it already`}
	if got := errorStrings(errs); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEachEndsWithMaxErrors(t *testing.T) {
	var errs field.ErrorList
	seen := 0
	for range Each(make([]string, 3*MaxErrors), &errs) {
		seen++
		errs = append(errs, field.Required(nil, ""))
	}
	if seen != MaxErrors {
		t.Errorf("%d elements were looked at, want %d", seen, MaxErrors)
	}
}

func TestUntilMaxErrors(t *testing.T) {
	path := field.NewPath("spec")
	asked := 0
	rule := func(count int) func() field.ErrorList {
		return func() field.ErrorList {
			asked++
			return make(field.ErrorList, count)
		}
	}
	if errs := UntilMaxErrors(t.Context(), path, rule(1), rule(MaxErrors), rule(1)); len(errs) != MaxErrors+1 || asked != 2 {
		t.Errorf("%d rules had %d errors, want 2 with %d", asked, len(errs), MaxErrors+1)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if errs := UntilMaxErrors(ctx, path, rule(1)); len(errs) != 1 || errs[0].Type != field.ErrorTypeInternal {
		t.Errorf("got %v after the request was canceled, want an internal error", errs)
	}
}

func TestUnions(t *testing.T) {
	text, path := "x", field.NewPath("source")
	validateText := func(text *string, path *field.Path) field.ErrorList { return Required(*text, path, "must be a text") }
	members := func(a, b *string) []Member {
		return []Member{MemberOf("a", a, validateText), MemberOf("b", b, validateText)}
	}
	for _, row := range []struct {
		name string
		a, b *string
		want []string
	}{
		{"one is accepted", nil, &text, nil},
		{"none is refused", nil, nil, []string{"source: Required value: must have one of: a, b"}},
		{"two are refused", &text, &text, []string{"source.b: Forbidden: only one may be given, and a is"}},
		{"the one is validated", nil, new(string), []string{"source.b: Required value: must be a text"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := errorStrings(ExactlyOneOf(members(row.a, row.b), path)); !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
	if errs := AtMostOneOf(members(nil, nil), path); len(errs) > 0 {
		t.Errorf("none of which at most one may be given is refused: %v", errs)
	}
}
