// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newHistory returns the history of a box, with one revision.
func newHistory(box string) *modelv1.ModelBoxHistory {
	return &modelv1.ModelBoxHistory{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxHistory"},
		ObjectMeta: metav1.ObjectMeta{Name: box},
		Revisions:  []modelv1.ModelBoxRevision{{Revision: 1, Name: box + "-a", Images: []string{"nginx:1"}}},
	}
}

func TestHistory(t *testing.T) {
	answers := map[string]runtime.Object{
		"GET modelboxes/web/history": newHistory("web"), "GET modelboxes/mail/history": newHistory("mail"),
		"GET modelboxes/shop-web/history": newHistory("shop-web"), "GET modelboxes/shop-db/history": newHistory("shop-db"),
	}
	ofWeb := []string{"GET modelboxes/web/history"}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"history", "web"}, prints: []string{"modelbox.model.github.com/web\nREVISION", "nginx:1"}, requests: ofWeb},
		{name: "a revision", arguments: []string{"history", "web", "--revision=1"}, prints: []string{"modelbox.model.github.com/web with revision #1", "web-a"}, requests: ofWeb},
		{name: "a revision that is not there", arguments: []string{"history", "web", "--revision=2"}, fails: "revision 2 of web", requests: ofWeb},
		{name: "a revision below zero", arguments: []string{"history", "web", "--revision=-1"}, fails: "--revision must be"},
		{name: "as an object", arguments: []string{"history", "web", "--output=jsonpath={.kind} {.revisions[0].name}"}, output: []string{"ModelBoxHistory web-a"}, requests: ofWeb},
		{name: "by name", arguments: []string{"history", "web", "-o", "name"}, output: []string{"modelbox.model.github.com/web"}, requests: ofWeb},
		{
			name: "a box, and the components of a stack", arguments: []string{"history", "web", "mst/shop", "-o", "name"},
			output:   []string{"modelbox.model.github.com/web", "modelbox.model.github.com/shop-web", "modelbox.model.github.com/shop-db"},
			requests: []string{"GET modelboxes/web/history", "GET modelboxes/shop-web/history", "GET modelboxes/shop-db/history"},
		},
		{
			name: "the components of a stack without the right to list boxes", arguments: []string{"history", "mst/shop", "-o", "name"},
			answers:  map[string]runtime.Object{"GET modelboxes": forbidden("modelboxes")},
			output:   []string{"modelbox.model.github.com/shop-web", "modelbox.model.github.com/shop-db"},
			requests: []string{"GET modelboxes/shop-web/history", "GET modelboxes/shop-db/history"},
		},
		{
			name: "a component that is named as well", arguments: []string{"history", "shop-db", "mst/shop", "-o", "name"},
			output:   []string{"modelbox.model.github.com/shop-db", "modelbox.model.github.com/shop-web"},
			requests: []string{"GET modelboxes/shop-db/history", "GET modelboxes/shop-web/history"},
		},
		{
			name: "boxes with a label", arguments: []string{"history", "-l", "tier=front", "-o", "name"}, requests: []string{"GET modelboxes/mail/history", "GET modelboxes/web/history"},
			output: []string{"modelbox.model.github.com/mail", "modelbox.model.github.com/web"},
		},
		{
			name: "one of several may not be read", arguments: []string{"history", "web", "mail", "-o", "name"}, fails: "web: modelboxes/history.model.github.com is forbidden",
			answers: map[string]runtime.Object{"GET modelboxes/web/history": forbidden("modelboxes/history")},
			output:  []string{"modelbox.model.github.com/mail"}, requests: []string{"GET modelboxes/web/history", "GET modelboxes/mail/history"},
		},
		{
			name: "one of several is not found", arguments: []string{"history", "nope", "web", "-o", "name"}, fails: `"nope" not found`,
			output: []string{"modelbox.model.github.com/web"}, requests: ofWeb,
		},
		{name: "a box that is not found", arguments: []string{"history", "nope"}, fails: `"nope" not found`},
		{name: "nothing", arguments: []string{"history"}, fails: "must be specified"},
	}, withComponents("shop"), answers)
	runAll(t, []commandTest{
		{
			name: "a component whose box is of another stack", arguments: []string{"history", "mst/shop", "-o", "name"}, output: []string{"modelbox.model.github.com/shop-web"},
			requests: []string{"GET modelboxes/shop-web/history"},
		},
	}, withComponents("another"), answers)
	runAll(t, []commandTest{{name: "a stack without boxes", arguments: []string{"history", "mst/shop"}, fails: "no boxes"}}, stored(newStack()), answers)
}
