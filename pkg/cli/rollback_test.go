// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestRollback(t *testing.T) {
	const (
		body = ` {"apiVersion":"model.github.com/v1","kind":"ModelBoxRollback"}`
		web  = "POST modelboxes/web/rollback?fieldManager=kubectl-modelbox" + body
		mail = "POST modelboxes/mail/rollback?fieldManager=kubectl-modelbox" + body
	)
	rolledBack := &modelv1.ModelBoxRollback{TypeMeta: metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxRollback"}, ToRevision: 3}
	runAll(t, []commandTest{
		{name: "to the revision before", arguments: []string{"rollback", "web"}, output: []string{"modelbox.model.github.com/web rolled back"}, requests: []string{web}},
		{
			name: "to a revision, without its storage", arguments: []string{"rollback", "web", "--to-revision=3", "--delete-storage"},
			output: []string{"modelbox.model.github.com/web rolled back"},
			requests: []string{
				`POST modelboxes/web/rollback?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","deleteStorage":true,"kind":"ModelBoxRollback","toRevision":3}`,
			},
		},
		{
			name: "by a dry run of the server", arguments: []string{"rollback", "web", "--dry-run=server"},
			output:   []string{"modelbox.model.github.com/web rolled back (server dry run)"},
			requests: []string{"POST modelboxes/web/rollback?dryRun=All&fieldManager=kubectl-modelbox" + body},
		},
		{
			name: "without steps", arguments: []string{"rollback", "web", "--immediate"}, output: []string{"modelbox.model.github.com/web rolled back"},
			requests: []string{
				`POST modelboxes/web/rollback?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","immediate":true,"kind":"ModelBoxRollback"}`,
			},
		},
		{
			name: "without steps, as undo", arguments: []string{"rollout", "undo", "web", "--immediate"}, output: []string{"modelbox.model.github.com/web rolled back"},
			requests: []string{
				`POST modelboxes/web/rollback?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","immediate":true,"kind":"ModelBoxRollback"}`,
			},
		},
		{name: "by a dry run of the client", arguments: []string{"rollback", "web", "--dry-run=client"}, fails: "--dry-run=server"},
		{name: "to a revision below zero", arguments: []string{"rollback", "web", "--to-revision=-1"}, fails: "--to-revision must be"},
		{
			name: "boxes with a label", arguments: []string{"rollback", "-l", "tier=front"}, requests: []string{mail, web},
			output: []string{"modelbox.model.github.com/mail rolled back", "modelbox.model.github.com/web rolled back"},
		},
		{name: "the box of a file", arguments: []string{"rollback"}, file: webFile, output: []string{"modelbox.model.github.com/web rolled back"}, requests: []string{web}},
		{name: "a stack", arguments: []string{"rollback", "mst/shop"}, fails: "modelstacks/shop is a stack"},
		{name: "nothing", arguments: []string{"rollback"}, fails: "must be specified"},
		{name: "a file and a name", arguments: []string{"rollback", "web"}, file: webFile, fails: "--filename"},
		{
			name: "one of several is not found", arguments: []string{"rollback", "nope", "web"}, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web rolled back"}, requests: []string{web},
		},
		{
			name: "one of several may not be rolled back", arguments: []string{"rollback", "web", "mail"},
			answers: map[string]runtime.Object{"POST modelboxes/web/rollback": forbidden("modelboxes/rollback")},
			output:  []string{"modelbox.model.github.com/mail rolled back"}, fails: "web: modelboxes/rollback.model.github.com is forbidden", requests: []string{web, mail},
		},
		{
			name: "a box that another client changes", arguments: []string{"rollback", "web"},
			answers: map[string]runtime.Object{"POST modelboxes/web/rollback": conflict("web")}, fails: "the object has been modified", requests: []string{web},
		},
		{
			name: "a warning of the server", arguments: []string{"rollback", "web"}, warning: "it is paused", says: []string{"Warning: it is paused"},
			output: []string{"modelbox.model.github.com/web rolled back"}, requests: []string{web},
		},
		{
			name: "another field manager", arguments: []string{"rollback", "web", "--field-manager=me"}, output: []string{"modelbox.model.github.com/web rolled back"},
			requests: []string{"POST modelboxes/web/rollback?fieldManager=me" + body},
		},
		{
			name: "the answer of the server", arguments: []string{"rollback", "web", "--output=jsonpath={.kind} {.toRevision}"},
			output: []string{"ModelBoxRollback 3"}, requests: []string{web},
		},
	}, stored(newFrontBox("web"), newFrontBox("mail"), newStack()), map[string]runtime.Object{"POST modelboxes/web/rollback": rolledBack, "POST modelboxes/mail/rollback": rolledBack})
}
