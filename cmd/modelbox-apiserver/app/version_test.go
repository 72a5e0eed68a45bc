// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

func TestVersionIsPrintedInsteadOfServing(t *testing.T) {
	cmd := NewCommand(t.Context(), options.NewForRegistry(basecompatibility.NewComponentGlobalsRegistry()))
	var output strings.Builder
	cmd.SetOut(&output)
	cmd.SetArgs([]string{"--version"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	info := version.Get()
	for _, want := range []string{"modelbox-apiserver", info.Version, info.Commit, info.Kubernetes} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("%q lacks %q", output.String(), want)
		}
	}
}
