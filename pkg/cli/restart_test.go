// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestRestart(t *testing.T) {
	const (
		body  = ` {"apiVersion":"model.github.com/v1","kind":"ModelBoxRestart"}`
		web   = "POST modelboxes/web/restart?fieldManager=kubectl-modelbox" + body
		mail  = "POST modelboxes/mail/restart?fieldManager=kubectl-modelbox" + body
		stack = "POST modelstacks/shop/restart?fieldManager=kubectl-modelbox" + body
	)
	shop := newStack()
	shop.Labels = map[string]string{"tier": "front"}
	elsewhere := newBox("web")
	elsewhere.Namespace = "other"
	objects := stored(newFrontBox("web"), newFrontBox("mail"), newBox("back"), shop, elsewhere, newDeployment("web", "web"))
	restarted := &modelv1.ModelBoxRestart{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxRestart"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Status:     modelv1.ModelBoxRestartStatus{RestartedAt: metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Generation: 2},
	}
	answers := map[string]runtime.Object{
		"POST modelboxes/web/restart": restarted, "POST modelboxes/mail/restart": restarted, "POST modelboxes/back/restart": restarted,
		"POST other/modelboxes/web/restart": restarted, "POST modelstacks/shop/restart": restarted,
	}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"restart", "web"}, output: []string{"modelbox.model.github.com/web restarted"}, requests: []string{web}},
		{name: "a stack", arguments: []string{"restart", "mst/shop"}, output: []string{"modelstack.model.github.com/shop restarted"}, requests: []string{stack}},
		{
			name: "stacks before boxes", arguments: []string{"restart", "web", "mst/shop"}, requests: []string{stack, web},
			output: []string{"modelbox.model.github.com/web restarted", "modelstack.model.github.com/shop restarted"},
		},
		{
			name: "boxes with a label", arguments: []string{"restart", "--selector=tier=front"}, requests: []string{mail, web},
			output: []string{"modelbox.model.github.com/mail restarted", "modelbox.model.github.com/web restarted"},
		},
		{
			name: "stacks with a label", arguments: []string{"restart", "mst", "-l", "tier=front"}, requests: []string{stack},
			output: []string{"modelstack.model.github.com/shop restarted"},
		},
		{name: "a label that nothing has", arguments: []string{"restart", "--selector=tier=none"}, fails: "No resources found in default namespace"},
		{
			name: "boxes of all namespaces", arguments: []string{"restart", "mb", "--all-namespaces"},
			output: []string{
				"modelbox.model.github.com/back restarted", "modelbox.model.github.com/mail restarted", "modelbox.model.github.com/web restarted",
				"modelbox.model.github.com/web restarted",
			},
			requests: []string{"POST modelboxes/back/restart?fieldManager=kubectl-modelbox" + body, mail, web, "POST other/modelboxes/web/restart?fieldManager=kubectl-modelbox" + body},
		},
		{
			name: "the boxes and stacks of a file", arguments: []string{"restart"}, file: allFile, requests: []string{stack, web},
			output: []string{"modelbox.model.github.com/web restarted", "modelstack.model.github.com/shop restarted"},
		},
		{
			name: "a file of which one box is not found", arguments: []string{"restart"}, file: nopeFile + "\n---\n" + webFile, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web restarted"}, requests: []string{web},
		},
		{name: "a file with a box that is not found", arguments: []string{"restart"}, file: nopeFile, fails: `"nope" not found`},
		{name: "a file and a name", arguments: []string{"restart", "web"}, file: webFile, fails: "--filename"},
		{name: "a label and a name", arguments: []string{"restart", "web", "--selector=tier=front"}, fails: "together with --selector"},
		{name: "all namespaces and a name", arguments: []string{"restart", "web", "-A"}, fails: "--all-namespaces may not"},
		{
			name: "by a dry run of the server", arguments: []string{"restart", "web", "--dry-run=server"}, warning: "rolls 3 pods", says: []string{"Warning: rolls 3 pods"},
			output:   []string{"modelbox.model.github.com/web restarted (server dry run)"},
			requests: []string{"POST modelboxes/web/restart?dryRun=All&fieldManager=kubectl-modelbox" + body},
		},
		{name: "by a dry run of the client", arguments: []string{"restart", "web", "--dry-run=client"}, fails: "--dry-run=server"},
		{name: "nothing", arguments: []string{"restart"}, fails: "must be specified"},
		{
			name: "something else, and a box", arguments: []string{"restart", "deploy/web", "mb/web"}, fails: "is neither a box nor a stack",
			output: []string{"modelbox.model.github.com/web restarted"}, requests: []string{web},
		},
		{
			name: "one of several may not be restarted", arguments: []string{"restart", "web", "mail"},
			answers: map[string]runtime.Object{"POST modelboxes/web/restart": forbidden("modelboxes/restart")},
			output:  []string{"modelbox.model.github.com/mail restarted"}, fails: "web: modelboxes/restart.model.github.com is forbidden", requests: []string{web, mail},
		},
		{
			name: "a stack may not be restarted", arguments: []string{"restart", "mst/shop"},
			answers: map[string]runtime.Object{"POST modelstacks/shop/restart": forbidden("modelstacks/restart")},
			fails:   "shop: modelstacks/restart.model.github.com is forbidden", requests: []string{stack},
		},
		{
			name: "a box that another client changes", arguments: []string{"restart", "web"},
			answers: map[string]runtime.Object{"POST modelboxes/web/restart": conflict("web")}, fails: "the object has been modified", requests: []string{web},
		},
		{
			name: "one of several is not found", arguments: []string{"restart", "nope", "web"}, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web restarted"}, requests: []string{web},
		},
		{
			name: "one of several is not found and another may not be restarted", arguments: []string{"restart", "nope", "web", "mail"},
			answers: map[string]runtime.Object{"POST modelboxes/web/restart": forbidden("modelboxes/restart")},
			fails:   `"nope" not found, restarting web: modelboxes/restart.model.github.com is forbidden`,
			output:  []string{"modelbox.model.github.com/mail restarted"}, requests: []string{web, mail},
		},
		{
			name: "a warning of the server", arguments: []string{"restart", "web"}, warning: "it is paused", says: []string{"Warning: it is paused"},
			output: []string{"modelbox.model.github.com/web restarted"}, requests: []string{web},
		},
		{
			name: "another field manager", arguments: []string{"restart", "web", "--field-manager=me"}, output: []string{"modelbox.model.github.com/web restarted"},
			requests: []string{"POST modelboxes/web/restart?fieldManager=me" + body},
		},
		{
			name: "the answer of the server", arguments: []string{"restart", "web", "--output=jsonpath={.kind} {.status.restartedAt}"},
			output: []string{"ModelBoxRestart 2026-01-02T03:04:05Z"}, requests: []string{web},
		},
		{name: "the name", arguments: []string{"restart", "web", "-o", "name"}, output: []string{"modelbox.model.github.com/web"}, requests: []string{web}},
	}, objects, answers)
}
