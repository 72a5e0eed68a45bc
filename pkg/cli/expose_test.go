// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestExpose is about what the command sends. TestCommands has what it makes of a box.
func TestExpose(t *testing.T) {
	const (
		body  = ` merge-patch+json {"metadata":{"resourceVersion":"7"},"spec":{"serviceType":"NodePort"}}`
		front = "PATCH modelboxes/front?fieldManager=kubectl-modelbox" + body
		back  = "PATCH modelboxes/back?fieldManager=kubectl-modelbox" + body
	)
	labelled, answer := newExposedBox("front"), newExposedBox("front")
	labelled.Labels = map[string]string{"tier": "front"}
	answer.Spec.ServiceType, answer.Spec.Ports[0].NodePort = modelv1.ServiceTypeNodePort, 30080
	answers := map[string]runtime.Object{"PATCH modelboxes/front": answer, "PATCH modelboxes/back": newExposedBox("back")}
	runAll(t, []commandTest{
		{name: "a box", arguments: []string{"expose", "front", "--type=NodePort"}, output: []string{"modelbox.model.github.com/front exposed"}, requests: []string{front}},
		{
			name: "at another port", arguments: []string{"expose", "front", "--port=443", "--target-port=https"}, output: []string{"modelbox.model.github.com/front exposed"},
			requests: []string{`PATCH modelboxes/front?fieldManager=kubectl-modelbox merge-patch+json {"metadata":{"resourceVersion":"7"},"spec":{"ports":[` +
				`{"name":"http","port":80,"protocol":"TCP","targetPort":0},{"port":443,"protocol":"TCP","targetPort":"https"}]}}`},
		},
		{
			name: "the answer of the server to a dry run", arguments: []string{"expose", "front", "--type=NodePort", "--dry-run=server", "-o", "jsonpath={.spec.ports[0].nodePort}"},
			output: []string{"30080"}, requests: []string{"PATCH modelboxes/front?dryRun=All&fieldManager=kubectl-modelbox" + body},
		},
		{
			name: "by a dry run of the server", arguments: []string{"expose", "front", "--type=NodePort", "--dry-run=server"},
			output: []string{"modelbox.model.github.com/front exposed (server dry run)"}, requests: []string{"PATCH modelboxes/front?dryRun=All&fieldManager=kubectl-modelbox" + body},
		},
		{
			name: "boxes with a label", arguments: []string{"expose", "-l", "tier=front", "--type=NodePort"}, output: []string{"modelbox.model.github.com/front exposed"},
			requests: []string{front},
		},
		{
			name: "the box of a file as it is in the cluster", arguments: []string{"expose", "--type=NodePort"}, requests: []string{front},
			file:   `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: front}, spec: {image: "nginx:1.9.1"}}`,
			output: []string{"modelbox.model.github.com/front exposed"},
		},
		{
			name: "one of several has no port", arguments: []string{"expose", "idle", "front", "--type=NodePort"}, fails: "modelboxes/idle: ", requests: []string{front},
			output: []string{"modelbox.model.github.com/front exposed"},
		},
		{
			name: "one of several may not be changed", arguments: []string{"expose", "front", "back", "--type=NodePort"}, fails: "modelboxes/front: modelboxes.model.github.com is forbidden",
			answers: map[string]runtime.Object{"PATCH modelboxes/front": forbidden("modelboxes")},
			output:  []string{"modelbox.model.github.com/back exposed"}, requests: []string{front, back},
		},
		{
			name: "a box that another client changes", arguments: []string{"expose", "front", "--type=NodePort"}, fails: "the object has been modified", requests: []string{front},
			answers: map[string]runtime.Object{"PATCH modelboxes/front": conflict("front")},
		},
		{
			name: "another field manager", arguments: []string{"expose", "front", "--type=NodePort", "--field-manager=me"}, output: []string{"modelbox.model.github.com/front exposed"},
			requests: []string{"PATCH modelboxes/front?fieldManager=me" + body},
		},
		{
			name: "a warning of the server", arguments: []string{"expose", "front", "--type=NodePort"}, warning: "no host is free", says: []string{"Warning: no host is free"},
			output: []string{"modelbox.model.github.com/front exposed"}, requests: []string{front},
		},
		{
			name: "one of several is not found", arguments: []string{"expose", "nope", "front", "--type=NodePort"}, fails: `"nope" not found`, requests: []string{front},
			output: []string{"modelbox.model.github.com/front exposed"},
		},
		{name: "a stack", arguments: []string{"expose", "mst/shop", "--type=NodePort"}, fails: "modelstacks/shop is a stack"},
		{name: "a label and a name", arguments: []string{"expose", "front", "-l", "tier=front", "--type=NodePort"}, fails: "together with --selector"},
		{name: "nothing", arguments: []string{"expose", "--type=NodePort"}, fails: "must be specified"},
	}, stored(labelled, newExposedBox("back"), newBox("idle"), newStack()), answers)
}
