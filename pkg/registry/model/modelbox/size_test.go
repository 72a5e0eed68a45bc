// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// A spec that is too large is refused where it can shrink.
func TestASpecThatIsTooLargeIsRefusedWhereItIs(t *testing.T) {
	files := func(bytes int) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Configs = []model.ModelBoxConfig{{MountPath: "/etc/web", Rollout: model.ConfigRolloutRestart,
				Data: map[string]string{"web.conf": strings.Repeat("x", bytes)}}}
		}
	}
	arguments := func(bytes int) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Args = []string{strings.Repeat("x", bytes)} }
	}
	for _, row := range []struct {
		name string
		box  *model.ModelBox
		want string
	}{
		{"files that fit", webBox(files(maxSpecBytes - 1000)), ""},
		{"files that do not", webBox(files(maxSpecBytes)), "spec.configs"},
		{"files that do not beside the rest", webBox(files(maxSpecBytes/2), arguments(maxSpecBytes/2)), "spec.configs"},
		{"files, and a rest that is too large itself", webBox(files(1), arguments(maxSpecBytes)), "spec"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := ""
			for _, err := range newStrategy(row.box).Validate(t.Context(), row.box) {
				got += err.Field
			}
			if got != row.want {
				t.Errorf("it is refused for %q, want %q", got, row.want)
			}
		})
	}
}
