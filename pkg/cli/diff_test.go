// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func newDiff(box string, action modelv1.ModelBoxDiffAction) *modelv1.ModelBoxDiff {
	return &modelv1.ModelBoxDiff{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxDiff"},
		ObjectMeta: metav1.ObjectMeta{Name: box},
		Children:   []modelv1.ModelBoxChildDiff{{Kind: "Deployment", Name: box, Action: action}},
	}
}

func TestDiff(t *testing.T) {
	const ofComponent = `{"apiVersion":"model.github.com/v1","kind":"ModelBoxDiff","metadata":{"name":"shop-web"},"children":[{"kind":"Deployment","name":"shop-web","action":"Create"}]}`
	answers := map[string]runtime.Object{
		"GET modelboxes/web/diff": newDiff("web", modelv1.DiffActionUpdate), "POST modelboxes/web/diff": newDiff("web", modelv1.DiffActionReplace),
		"GET modelboxes/mail/diff":  newDiff("mail", modelv1.DiffActionNone),
		"GET modelstacks/shop/diff": listOf(ofComponent), "POST modelstacks/shop/diff": listOf(ofComponent),
	}
	const differs = "exit"
	runAll(t, []commandTest{
		{
			name: "a box that differs", arguments: []string{"diff", "web"}, fails: differs, requests: []string{"GET modelboxes/web/diff"},
			output: []string{"ModelBox/web", "  Deployment/web: Update"},
		},
		{name: "a box that does not differ", arguments: []string{"diff", "mail"}, requests: []string{"GET modelboxes/mail/diff"}},
		{
			name: "a stack before boxes", arguments: []string{"diff", "mail", "mst/shop"}, fails: differs, requests: []string{"GET modelstacks/shop/diff", "GET modelboxes/mail/diff"},
			output: []string{"ModelBox/shop-web", "  Deployment/shop-web: Create"},
		},
		{
			name: "what is in a file", arguments: []string{"diff"}, file: allFile, fails: differs,
			output:   []string{"ModelBox/shop-web", "  Deployment/shop-web: Create", "ModelBox/web", "  Deployment/web: Replace"},
			requests: []string{"POST modelstacks/shop/diff" + stackBody, "POST modelboxes/web/diff" + webBody},
		},
		{
			name: "boxes with a label", arguments: []string{"diff", "-l", "tier=front"}, fails: differs, requests: []string{"GET modelboxes/mail/diff", "GET modelboxes/web/diff"},
			output: []string{"ModelBox/web", "  Deployment/web: Update"},
		},
		{
			name: "as an object", arguments: []string{"diff", "web", "--output=jsonpath={.kind} {.children[0].action}"}, fails: differs,
			output: []string{"ModelBoxDiff Update"}, requests: []string{"GET modelboxes/web/diff"},
		},
		{
			name: "several in YAML, as documents", arguments: []string{"diff", "web", "mail", "--output=yaml"}, fails: differs,
			prints: []string{"kind: ModelBoxDiff\nmetadata:\n  name: web\n---\napiVersion: model.github.com/v1\n"}, requests: []string{"GET modelboxes/web/diff", "GET modelboxes/mail/diff"},
		},
		{name: "nothing", arguments: []string{"diff"}, fails: "must be specified"},
		{name: "a box that is not found", arguments: []string{"diff", "nope"}, fails: `"nope" not found`},
		{
			name: "the other boxes if one is not found", arguments: []string{"diff", "nope", "web"}, fails: `"nope" not found`,
			requests: []string{"GET modelboxes/web/diff"}, output: []string{"ModelBox/web", "  Deployment/web: Update"},
		},
		{
			name: "the other boxes if a stack may not be compared", arguments: []string{"diff", "mst/shop", "web"}, fails: "modelstacks/diff.model.github.com is forbidden",
			answers:  map[string]runtime.Object{"GET modelstacks/shop/diff": forbidden("modelstacks/diff")},
			requests: []string{"GET modelstacks/shop/diff", "GET modelboxes/web/diff"}, output: []string{"ModelBox/web", "  Deployment/web: Update"},
		},
		{
			name: "a box that may not be compared", arguments: []string{"diff", "web"}, fails: "modelboxes/diff.model.github.com is forbidden",
			answers: map[string]runtime.Object{"GET modelboxes/web/diff": forbidden("modelboxes/diff")}, requests: []string{"GET modelboxes/web/diff"},
		},
		{
			name: "a stack that may not be compared", arguments: []string{"diff", "mst/shop"}, fails: "modelstacks/diff.model.github.com is forbidden",
			answers: map[string]runtime.Object{"GET modelstacks/shop/diff": forbidden("modelstacks/diff")}, requests: []string{"GET modelstacks/shop/diff"},
		},
	}, stored(newFrontBox("web"), newFrontBox("mail"), newStack()), answers)
}

func TestDiffEndsAsTheCommandDiffDoes(t *testing.T) {
	objects := stored(newBox("web"))
	answers := map[string]runtime.Object{"GET modelboxes/web/diff": newDiff("web", modelv1.DiffActionUpdate)}
	if _, _, err := run(t, &cluster{objects: objects, answers: answers}, "diff", "web"); !errors.Is(err, cmdutil.ErrExit) {
		t.Errorf("differences: got %v, want an end with 1", err)
	}
	for _, row := range []struct {
		name      string
		answers   map[string]runtime.Object
		arguments []string
	}{
		{"an error", nil, []string{"diff", "web"}},
		{"an error beside differences", answers, []string{"diff", "web", "nope"}},
	} {
		var ended exit
		if _, _, err := run(t, &cluster{objects: objects, answers: row.answers}, row.arguments...); !errors.As(err, &ended) || ended.code < 2 {
			t.Errorf("%s: got %v, %d, want an end with more than 1", row.name, err, ended.code)
		}
	}
}
