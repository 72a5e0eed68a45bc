// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestRetry(t *testing.T) {
	const (
		body = ` {"apiVersion":"model.github.com/v1","kind":"ModelBoxRetry"}`
		web  = "POST modelboxes/web/retry?fieldManager=kubectl-modelbox" + body
		mail = "POST modelboxes/mail/retry?fieldManager=kubectl-modelbox" + body
	)
	retried := &modelv1.ModelBoxRetry{
		TypeMeta: metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxRetry"}, Status: modelv1.ModelBoxRetryStatus{Generation: 2},
	}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"retry", "web"}, output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web}},
		{
			name: "boxes with a label", arguments: []string{"retry", "-l", "tier=front"}, requests: []string{mail, web},
			output: []string{"modelbox.model.github.com/mail retried", "modelbox.model.github.com/web retried"},
		},
		{name: "the box of a file", arguments: []string{"retry"}, file: webFile, output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web}},
		{name: "a stack", arguments: []string{"retry", "mst/shop"}, fails: "modelstacks/shop is a stack"},
		{
			name: "a box and a stack", arguments: []string{"retry", "web", "mst/shop"}, fails: "modelstacks/shop is a stack",
			output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web},
		},
		{
			name: "a file with a stack", arguments: []string{"retry"}, file: allFile, fails: "modelstacks/shop is a stack",
			output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web},
		},
		{
			name: "by a dry run of the server", arguments: []string{"retry", "web", "--dry-run=server"}, warning: "rolls 3 pods", says: []string{"Warning: rolls 3 pods"},
			output:   []string{"modelbox.model.github.com/web retried (server dry run)"},
			requests: []string{"POST modelboxes/web/retry?dryRun=All&fieldManager=kubectl-modelbox" + body},
		},
		{name: "by a dry run of the client", arguments: []string{"retry", "web", "--dry-run=client"}, fails: "--dry-run=server"},
		{name: "nothing", arguments: []string{"retry"}, fails: "must be specified"},
		{name: "a label and a name", arguments: []string{"retry", "web", "--selector=tier=front"}, fails: "together with --selector"},
		{
			name: "one of several is not found", arguments: []string{"retry", "nope", "web"}, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web},
		},
		{
			name: "one of several may not be retried", arguments: []string{"retry", "web", "mail"},
			answers: map[string]runtime.Object{"POST modelboxes/web/retry": forbidden("modelboxes/retry")},
			output:  []string{"modelbox.model.github.com/mail retried"}, fails: "web: modelboxes/retry.model.github.com is forbidden", requests: []string{web, mail},
		},
		{
			name: "a box that has not failed", arguments: []string{"retry", "web"},
			answers: map[string]runtime.Object{"POST modelboxes/web/retry": conflict("web")}, fails: "the object has been modified", requests: []string{web},
		},
		{
			name: "a warning of the server", arguments: []string{"retry", "web"}, warning: "it is paused", says: []string{"Warning: it is paused"},
			output: []string{"modelbox.model.github.com/web retried"}, requests: []string{web},
		},
		{
			name: "another field manager", arguments: []string{"retry", "web", "--field-manager=me"}, output: []string{"modelbox.model.github.com/web retried"},
			requests: []string{"POST modelboxes/web/retry?fieldManager=me" + body},
		},
		{
			name: "the answer of the server", arguments: []string{"retry", "web", "--output=jsonpath={.kind} {.status.generation}"},
			output: []string{"ModelBoxRetry 2"}, requests: []string{web},
		},
	}, stored(newFrontBox("web"), newFrontBox("mail"), newStack()), map[string]runtime.Object{"POST modelboxes/web/retry": retried, "POST modelboxes/mail/retry": retried})
}
