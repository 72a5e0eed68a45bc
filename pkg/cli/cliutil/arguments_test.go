// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		name        string
		given, want []string
	}{
		{"a name is the name of a box", []string{"web"}, []string{"modelboxes/web"}},
		{"names and typed names mix", []string{"web", "mst/shop"}, []string{"modelboxes/web", "mst/shop"}},
		{"a type comes before names", []string{"mst", "shop", "shop2"}, []string{"mst", "shop", "shop2"}},
		{"several types", []string{"mb,ModelStacks"}, []string{"mb,ModelStacks"}},
		{"a type with its group", []string{"modelbox.model.github.com", "web"}, []string{"modelbox.model.github.com", "web"}},
		{"a type with its group and version", []string{"modelboxes.v1.model.github.com"}, []string{"modelboxes.v1.model.github.com"}},
		{"another type is a name", []string{"deployment", "web"}, []string{"modelboxes/deployment", "modelboxes/web"}},
		{"nothing", nil, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Arguments(test.given)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBoxName(t *testing.T) {
	for argument, want := range map[string]string{"web": "web", "mb/web": "web", "modelboxes.model.github.com/web": "web"} {
		if got, err := BoxName(argument); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", argument, got, err, want)
		}
	}
	for _, argument := range []string{"mst/shop", "pod/web", "mb/"} {
		if got, err := BoxName(argument); err == nil {
			t.Errorf("%s is box %q, want an error", argument, got)
		}
	}
}
