// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestPause(t *testing.T) {
	const (
		body  = ` strategic-merge-patch+json {"spec":{"paused":true}}`
		web   = "PATCH modelboxes/web?fieldManager=kubectl-rollout" + body
		mail  = "PATCH modelboxes/mail?fieldManager=kubectl-rollout" + body
		stack = "PATCH modelstacks/shop?fieldManager=kubectl-rollout" + body
	)
	paused := newBox("paused")
	paused.Spec.Paused = true
	objects := stored(newFrontBox("web"), newFrontBox("mail"), paused, newStack())
	answers := map[string]runtime.Object{"PATCH modelboxes/web": newBox("web"), "PATCH modelboxes/mail": newBox("mail"), "PATCH modelstacks/shop": newStack()}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"pause", "web"}, output: []string{"modelbox.model.github.com/web paused"}, requests: []string{web}},
		{
			name: "a box and a stack", arguments: []string{"pause", "web", "mst/shop"}, requests: []string{web, stack},
			output: []string{"modelbox.model.github.com/web paused", "modelstack.model.github.com/shop paused"},
		},
		{
			name: "boxes with a label", arguments: []string{"pause", "mb", "-l", "tier=front"}, requests: []string{mail, web},
			output: []string{"modelbox.model.github.com/mail paused", "modelbox.model.github.com/web paused"},
		},
		{name: "the box of a file", arguments: []string{"pause"}, file: webFile, output: []string{"modelbox.model.github.com/web paused"}, requests: []string{web}},
		{name: "a box that is paused", arguments: []string{"pause", "paused"}, fails: "is already paused"},
		{
			name: "one of several is not found", arguments: []string{"pause", "nope", "web"}, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web paused"}, requests: []string{web},
		},
		{
			name: "one of several may not be paused", arguments: []string{"pause", "web", "mail"}, fails: "modelboxes.model.github.com is forbidden",
			answers: map[string]runtime.Object{"PATCH modelboxes/web": forbidden("modelboxes")},
			output:  []string{"modelbox.model.github.com/mail paused"}, requests: []string{web, mail},
		},
		{
			name: "a box that another client changes", arguments: []string{"pause", "web"}, fails: "the object has been modified",
			answers: map[string]runtime.Object{"PATCH modelboxes/web": conflict("web")}, requests: []string{web},
		},
		{
			name: "a warning of the server", arguments: []string{"pause", "web"}, warning: "it is deleted", says: []string{"Warning: it is deleted"},
			output: []string{"modelbox.model.github.com/web paused"}, requests: []string{web},
		},
		{name: "nothing", arguments: []string{"pause"}, fails: "required resource not specified"},
	}, objects, answers)
}

func TestResume(t *testing.T) {
	const (
		body  = ` strategic-merge-patch+json {"spec":{"paused":null}}`
		web   = "PATCH modelboxes/web?fieldManager=kubectl-rollout" + body
		stack = "PATCH modelstacks/shop?fieldManager=kubectl-rollout" + body
	)
	web1, shop := newFrontBox("web"), newStack()
	web1.Spec.Paused, shop.Spec.Paused = true, true
	answers := map[string]runtime.Object{"PATCH modelboxes/web": newBox("web"), "PATCH modelstacks/shop": newStack()}
	runAll(t, []commandTest{
		{
			name: "a box and a stack", arguments: []string{"resume", "web", "mst/shop"}, requests: []string{web, stack},
			output: []string{"modelbox.model.github.com/web resumed", "modelstack.model.github.com/shop resumed"},
		},
		{
			name: "boxes with a label", arguments: []string{"resume", "mb", "-l", "tier=front"}, requests: []string{web},
			output: []string{"modelbox.model.github.com/web resumed"},
		},
		{name: "a box that is not paused", arguments: []string{"resume", "mail"}, fails: "is not paused"},
		{name: "a box that is not found", arguments: []string{"resume", "nope"}, fails: `"nope" not found`},
		{
			name: "a box that may not be resumed", arguments: []string{"resume", "web"}, fails: "modelboxes.model.github.com is forbidden",
			answers: map[string]runtime.Object{"PATCH modelboxes/web": forbidden("modelboxes")}, requests: []string{web},
		},
		{name: "nothing", arguments: []string{"resume"}, fails: "required resource not specified"},
	}, stored(web1, newBox("mail"), shop), answers)
}
