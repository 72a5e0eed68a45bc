// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	baseversion "k8s.io/component-base/version"
)

func TestKubernetes(t *testing.T) {
	current := version.MustParse(Current)
	libraries := version.MustParse(baseversion.DefaultKubeBinaryVersion)
	for _, row := range []struct {
		name    string
		product *version.Version
		want    *version.Version
	}{
		{"this release maps to the libraries it is built with", current, libraries},
		{"a patch of this release does as well", version.MustParse(Current + ".7"), libraries},
		{"a newer minor release has no newer libraries", current.AddMinor(1), libraries},
		{"another major release is unknown", version.MajorMinor(current.Major()+1, 0), nil},
		{"an older major release is unknown", version.MajorMinor(current.Major()-1, 9), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Kubernetes(row.product)
			switch {
			case row.want == nil && got != nil:
				t.Errorf("got %s, want none", got)
			case row.want != nil && (got == nil || !got.EqualTo(row.want)):
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
