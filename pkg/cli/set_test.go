// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestSet(t *testing.T) {
	const (
		image = ` strategic-merge-patch+json {"spec":{"image":"nginx:1.9.1"}}`
		web   = "PATCH modelboxes/web?fieldManager=kubectl-set" + image
	)
	answers := map[string]runtime.Object{"PATCH modelboxes/web": newBox("web"), "PATCH modelstacks/shop": newStack()}
	runAll(t, []commandTest{
		{name: "the image of a box", arguments: []string{"set", "image", "web", "web=nginx:1.9.1"}, output: []string{"modelbox.model.github.com/web image updated"}, requests: []string{web}},
		{
			name: "an image by a dry run of the server", arguments: []string{"set", "image", "web", "web=nginx:1.9.1", "--dry-run=server"},
			output: []string{"modelbox.model.github.com/web image updated (server dry run)"}, requests: []string{"PATCH modelboxes/web?dryRun=All&fieldManager=kubectl-set" + image},
		},
		{
			name: "the image of a component of a stack", arguments: []string{"set", "image", "mst/shop", "db=mysql:9"}, prints: []string{"modelstack.model.github.com/shop image updated"},
			requests: []string{`PATCH modelstacks/shop?fieldManager=kubectl-set strategic-merge-patch+json ` +
				`{"spec":{"$setElementOrder/components":[{"name":"web"},{"name":"mail"},{"name":"db"}],"components":[{"box":{"image":"mysql:9"},"name":"db"}]}}`},
		},
		{name: "the image of a container that is not there", arguments: []string{"set", "image", "web", "nope=nginx:1.9.1"}, fails: `"nope"`},
		{
			name: "the image of a box that may not be changed", arguments: []string{"set", "image", "web", "web=nginx:1.9.1"}, fails: "is forbidden", requests: []string{web},
			answers: map[string]runtime.Object{"PATCH modelboxes/web": forbidden("modelboxes")},
		},
		{
			name: "a variable of boxes with a label", arguments: []string{"set", "env", "mb", "-l", "tier=front", "--containers=web", "MODE=debug"},
			output: []string{"modelbox.model.github.com/web env updated"},
			requests: []string{`PATCH modelboxes/web?fieldManager=kubectl-set strategic-merge-patch+json ` +
				`{"spec":{"envs":[{"name":"MODE","value":"debug"}]}}`},
		},
		{
			name: "the resources of a box", arguments: []string{"set", "resources", "web", "-c", "web", "--limits=cpu=200m"}, output: []string{"modelbox.model.github.com/web resource requirements updated"},
			requests: []string{`PATCH modelboxes/web?fieldManager=kubectl-set strategic-merge-patch+json {"spec":{"resources":{"limits":{"cpu":"200m"}}}}`},
		},
		{
			name: "a file of a box", arguments: []string{"set", "config", "web", "--mount-path=/etc/web", "--from-literal=a=b"}, prints: []string{"modelbox.model.github.com/web"},
			requests: []string{`PATCH modelboxes/web?fieldManager=kubectl-modelbox merge-patch+json ` +
				`{"metadata":{"resourceVersion":"7"},"spec":{"configs":[{"data":{"a":"b"},"mountPath":"/etc/web"}]}}`},
		},
		{
			name: "a file of a box that another client changes", arguments: []string{"set", "config", "web", "--mount-path=/etc/web", "--from-literal=a=b"},
			answers: map[string]runtime.Object{"PATCH modelboxes/web": conflict("web")}, fails: "the object has been modified",
			requests: []string{`PATCH modelboxes/web?fieldManager=kubectl-modelbox merge-patch+json ` +
				`{"metadata":{"resourceVersion":"7"},"spec":{"configs":[{"data":{"a":"b"},"mountPath":"/etc/web"}]}}`},
		},
	}, stored(newFrontBox("web"), newStack()), answers)
}
