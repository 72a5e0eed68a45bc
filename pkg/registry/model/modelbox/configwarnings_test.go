// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestConfigWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	file := func(rollout model.ConfigRollout, content string) change {
		return func(box *model.ModelBox) {
			box.Spec.Configs = []model.ModelBoxConfig{{MountPath: "/etc/web", Rollout: rollout, Data: map[string]string{"web.conf": content}}}
		}
	}
	binaryFile := func(box *model.ModelBox) { box.Spec.Configs[0].BinaryData = map[string][]byte{"logo.ico": {0xff}} }
	stopped := func(box *model.ModelBox) { box.Status.Replicas = 0 }
	onePod := func(box *model.ModelBox) { box.Status.Replicas = 1 }
	paused := func(box *model.ModelBox) { box.Spec.Paused = true }
	named := func(box *model.ModelBox) { box.Spec.Configs[0].Name = "other" }
	const restart, live, versioned = model.ConfigRolloutRestart, model.ConfigRolloutLive, model.ConfigRolloutVersioned

	for _, row := range []struct {
		name     string
		old, new []change
		want     []string
	}{
		{"a file of a config that restarts", []change{file(restart, "a")}, []change{file(restart, "b")}, []string{"rolls 2 pods"}},
		{"a file of a versioned config", []change{file(versioned, "a")}, []change{file(versioned, "b")}, []string{"rolls 2 pods"}},
		{"a file of a live config", []change{file(live, "a")}, []change{file(live, "b")},
			[]string{"spec.configs[0].data: " + warn.FilesChanged("2 pods")}},
		{"a binary file of a live config", []change{file(live, "a")}, []change{file(live, "a"), binaryFile},
			[]string{"spec.configs[0].binaryData: " + warn.FilesChanged("2 pods")}},
		{"the same binary file of a live config", []change{file(live, "a"), binaryFile}, []change{file(live, "a"), binaryFile}, nil},
		{"a binary file of a config that restarts", []change{file(restart, "a")}, []change{file(restart, "a"), binaryFile}, []string{"rolls 2 pods"}},
		{"a file of a live config of one pod", []change{file(live, "a"), onePod}, []change{file(live, "b")},
			[]string{"spec.configs[0].data: " + warn.FilesChanged("1 pod")}},
		{"a file of a live config, and the image", []change{file(live, "a")}, []change{file(live, "b"), image("nginx:2")},
			[]string{"rolls 2 pods", "spec.configs[0].data: " + warn.FilesChanged("2 pods")}},
		{"a file of a live config of a box that is paused", []change{file(live, "a"), paused}, []change{file(live, "b")},
			[]string{"spec.configs[0].data: " + warn.WhenUnpaused(warn.FilesChanged("2 pods"))}},
		{"a file of a live config without pods", []change{file(live, "a"), stopped}, []change{file(live, "b")}, nil},
		{"another rollout", []change{file(live, "a")}, []change{file(restart, "b")}, []string{"rolls 2 pods"}},
		{"another name of a live config", []change{file(live, "a")}, []change{file(live, "b"), named}, []string{"rolls 2 pods"}},
		{"a first config", nil, []change{file(live, "a")}, []string{"rolls 2 pods"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.old...)
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			got := newStrategy(old).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
