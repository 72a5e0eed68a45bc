// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPromoteAndAbort(t *testing.T) {
	const (
		promote = `POST modelboxes/web/promote?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","kind":"ModelBoxPromotion"}`
		full    = `POST modelboxes/web/promote?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","full":true,"kind":"ModelBoxPromotion"}`
		abort   = `POST modelboxes/web/abort?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","kind":"ModelBoxAbort"}`
		dryRun  = `POST modelboxes/web/abort?dryRun=All&fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","kind":"ModelBoxAbort"}`
	)
	promoted := &modelv1.ModelBoxPromotion{
		TypeMeta: metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxPromotion"}, Status: modelv1.ModelBoxPromotionStatus{Step: 2},
	}
	aborted := &modelv1.ModelBoxAbort{
		TypeMeta: metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxAbort"}, Status: modelv1.ModelBoxAbortStatus{StableGeneration: 1},
	}
	runAll(t, []commandTest{
		{name: "promote a box", arguments: []string{"promote", "web"}, output: []string{"modelbox.model.github.com/web promoted"}, requests: []string{promote}},
		{name: "promote a box fully", arguments: []string{"promote", "web", "--full"}, output: []string{"modelbox.model.github.com/web promoted"}, requests: []string{full}},
		{name: "promote as a subcommand of rollout", arguments: []string{"rollout", "promote", "web"}, output: []string{"modelbox.model.github.com/web promoted"}, requests: []string{promote}},
		{name: "the step in the answer", arguments: []string{"promote", "web", "--output=jsonpath={.status.step}"}, output: []string{"2"}, requests: []string{promote}},
		{name: "promote a stack", arguments: []string{"promote", "mst/shop"}, fails: "modelstacks/shop is a stack"},
		{
			name: "promote a box that is in no step", arguments: []string{"promote", "web"},
			answers: map[string]runtime.Object{"POST modelboxes/web/promote": conflict("web")}, fails: "the object has been modified", requests: []string{promote},
		},
		{name: "abort a box", arguments: []string{"abort", "web"}, output: []string{"modelbox.model.github.com/web aborted"}, requests: []string{abort}},
		{name: "abort as a subcommand of rollout", arguments: []string{"rollout", "abort", "web"}, output: []string{"modelbox.model.github.com/web aborted"}, requests: []string{abort}},
		{
			name: "abort by a dry run of the server", arguments: []string{"abort", "web", "--dry-run=server"},
			output: []string{"modelbox.model.github.com/web aborted (server dry run)"}, requests: []string{dryRun},
		},
		{name: "abort a stack", arguments: []string{"abort", "mst/shop"}, fails: "modelstacks/shop is a stack"},
		{
			name: "abort without the permission", arguments: []string{"abort", "web"},
			answers: map[string]runtime.Object{"POST modelboxes/web/abort": forbidden("modelboxes/abort")},
			fails:   "modelboxes/abort.model.github.com is forbidden", requests: []string{abort},
		},
	}, stored(newFrontBox("web"), newStack()), map[string]runtime.Object{"POST modelboxes/web/promote": promoted, "POST modelboxes/web/abort": aborted})
}
