// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestLogs(t *testing.T) {
	log := func(box string) text { return text{lines: "one of " + box + "\ntwo of " + box + "\n"} }
	answers := map[string]runtime.Object{
		"GET modelboxes/web/log": log("web"), "GET modelboxes/mail/log": log("mail"), "GET modelboxes/shop-web/log": log("shop-web"), "GET modelboxes/shop-db/log": log("shop-db"),
	}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"logs", "web"}, prints: []string{"one of web\ntwo of web\n"}, requests: []string{"GET modelboxes/web/log"}},
		{
			name: "with options", prints: []string{"one of web\n"},
			arguments: []string{"logs", "web", "--pod=web-1", "-c", "sidecar", "-p", "--timestamps", "--since=1m", "--tail=20", "--limit-bytes=1000", "--prefix=false", "--max-log-requests=2"},
			requests:  []string{"GET modelboxes/web/log?container=sidecar&limitBytes=1000&maxLogRequests=2&pod=web-1&prefix=false&previous=true&sinceSeconds=60&tailLines=20&timestamps=true"},
		},
		{
			name: "the components of a stack, in their order", arguments: []string{"logs", "mst/shop"},
			prints:   []string{"[shop/web] one of shop-web\n[shop/web] two of shop-web\n[shop/db] one of shop-db\n[shop/db] two of shop-db\n"},
			requests: []string{"GET modelboxes/shop-web/log", "GET modelboxes/shop-db/log"},
		},
		{
			name: "the components of a stack without the right to list boxes", arguments: []string{"logs", "mst/shop"}, prints: []string{"[shop/web] one of shop-web\n"},
			answers:  map[string]runtime.Object{"GET modelboxes": forbidden("modelboxes")},
			requests: []string{"GET modelboxes/shop-web/log", "GET modelboxes/shop-db/log"},
		},
		{
			name: "the components of a stack without the right to get one", arguments: []string{"logs", "mst/shop"}, fails: "modelboxes.model.github.com is forbidden",
			answers: map[string]runtime.Object{"GET modelboxes/shop-db": forbidden("modelboxes")},
		},
		{
			name: "boxes with a label, ten lines of each", arguments: []string{"logs", "-l", "tier=front"}, prints: []string{"one of mail\ntwo of mail\none of web\ntwo of web\n"},
			requests: []string{"GET modelboxes/mail/log?tailLines=10", "GET modelboxes/web/log?tailLines=10"},
		},
		{
			name: "a box that may not be read", arguments: []string{"logs", "web"}, fails: "modelboxes/log.model.github.com is forbidden", requests: []string{"GET modelboxes/web/log"},
			answers: map[string]runtime.Object{"GET modelboxes/web/log": forbidden("modelboxes/log")},
		},
		{name: "a box that is not found", arguments: []string{"logs", "nope"}, fails: `"nope" not found`},
		{name: "a stack and a pod", arguments: []string{"logs", "mst/shop", "--pod=web-1"}, fails: "together with stacks"},
		{name: "boxes and a pod", arguments: []string{"logs", "web", "mail", "--pod=web-1"}, fails: "together with multiple boxes"},
		{name: "a label and a pod", arguments: []string{"logs", "-l", "tier=front", "--pod=web-1"}, fails: "--selector and --pod may not"},
		{name: "a time that is none", arguments: []string{"logs", "web", "--since-time=yesterday"}, fails: "--since-time: "},
		{name: "nothing", arguments: []string{"logs"}, fails: "must be specified"},
	}, withComponents("shop"), answers)
	runAll(t, []commandTest{
		{
			name: "a component whose box is of another stack", arguments: []string{"logs", "mst/shop"}, prints: []string{"[shop/web] one of shop-web\n"},
			requests: []string{"GET modelboxes/shop-web/log"},
		},
	}, withComponents("another"), answers)
	runAll(t, []commandTest{{name: "a stack without boxes", arguments: []string{"logs", "mst/shop"}, fails: "stack shop has no boxes"}}, stored(newStack()), answers)
}
