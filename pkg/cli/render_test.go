// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestRender(t *testing.T) {
	const (
		deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`
		service    = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`
		box        = `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"shop-web"}}`
	)
	answers := map[string]runtime.Object{
		"GET modelboxes/web/render": listOf(deployment, service), "POST modelboxes/web/render": listOf(deployment),
		"GET modelboxes/mail/render": listOf(), "GET modelstacks/shop/render": listOf(box), "POST modelstacks/shop/render": listOf(box),
		"POST other/modelboxes/web/render": listOf(service),
	}
	runAll(t, []commandTest{
		{
			name: "a box", arguments: []string{"render", "web"}, requests: []string{"GET modelboxes/web/render"},
			prints: []string{
				"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n",
			},
		},
		{
			name: "a stack before boxes", arguments: []string{"render", "web", "mst/shop", "-o", "name"}, requests: []string{"GET modelstacks/shop/render", "GET modelboxes/web/render"},
			prints: []string{"modelbox.model.github.com/shop-web\ndeployment.apps/web\nservice/web\n"},
		},
		{
			name: "as one List in JSON", arguments: []string{"render", "web", "--output=json"}, requests: []string{"GET modelboxes/web/render"},
			prints: []string{"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"apiVersion\": \"apps/v1\"", `"kind": "Service"`, "\"kind\": \"List\"\n}\n"},
		},
		{
			name: "boxes with a label", arguments: []string{"render", "-l", "tier=front", "-o", "name"}, requests: []string{"GET modelboxes/mail/render", "GET modelboxes/web/render"},
			output: []string{"deployment.apps/web", "service/web"},
		},
		{
			name: "what is in a file", arguments: []string{"render", "-o", "name"}, file: allFile,
			output:   []string{"deployment.apps/web", "modelbox.model.github.com/shop-web"},
			requests: []string{"POST modelstacks/shop/render" + stackBody, "POST modelboxes/web/render" + webBody},
		},
		{
			name: "what is in a file of another namespace", arguments: []string{"render", "--namespace=other", "-o", "name"}, file: webFile, output: []string{"service/web"},
			requests: []string{
				`POST other/modelboxes/web/render {"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"web","namespace":"other"},"spec":{"image":"nginx:1.9.1"}}`,
			},
		},
		{name: "a file with an unknown field", arguments: []string{"render"}, file: `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {imag: a}}`,
			fails: `unknown field "spec.imag"`},
		{name: "a file with a box without a name", arguments: []string{"render"}, file: `{apiVersion: model.github.com/v1, kind: ModelBox, spec: {image: a}}`,
			fails: "a ModelBox has no metadata.name"},
		{name: "a file without boxes", arguments: []string{"render"}, file: `{apiVersion: v1, kind: Pod, metadata: {name: other}}`, fails: "No boxes or stacks found in the files"},
		{name: "nothing", arguments: []string{"render"}, fails: "must be specified"},
		{name: "a box that is not found", arguments: []string{"render", "nope"}, fails: `"nope" not found`},
		{name: "a box that is not found, in JSON", arguments: []string{"render", "nope", "--output=json"}, fails: `"nope" not found`},
		{
			name: "the other boxes if one is not found", arguments: []string{"render", "nope", "web", "-o", "name"}, fails: `"nope" not found`,
			requests: []string{"GET modelboxes/web/render"}, output: []string{"deployment.apps/web", "service/web"},
		},
		{
			name: "the other boxes if a stack may not be rendered", arguments: []string{"render", "mst/shop", "web", "-o", "name"},
			answers:  map[string]runtime.Object{"GET modelstacks/shop/render": forbidden("modelstacks/render")},
			fails:    "rendering shop: modelstacks/render.model.github.com is forbidden",
			requests: []string{"GET modelstacks/shop/render", "GET modelboxes/web/render"}, output: []string{"deployment.apps/web", "service/web"},
		},
		{
			name: "a box that may not be rendered", arguments: []string{"render", "mail", "web"},
			answers: map[string]runtime.Object{"GET modelboxes/web/render": forbidden("modelboxes/render")},
			fails:   "rendering web: modelboxes/render.model.github.com is forbidden", requests: []string{"GET modelboxes/mail/render", "GET modelboxes/web/render"},
		},
		{
			name: "a stack that may not be rendered", arguments: []string{"render", "mst/shop"},
			answers: map[string]runtime.Object{"GET modelstacks/shop/render": forbidden("modelstacks/render")},
			fails:   "rendering shop: modelstacks/render.model.github.com is forbidden", requests: []string{"GET modelstacks/shop/render"},
		},
		{
			name: "a warning of the server", arguments: []string{"render", "-o", "name"}, file: webFile, warning: "it has no probe", says: []string{"Warning: it has no probe"},
			output: []string{"deployment.apps/web"}, requests: []string{"POST modelboxes/web/render" + webBody},
		},
	}, stored(newFrontBox("web"), newFrontBox("mail"), newStack()), answers)
}
