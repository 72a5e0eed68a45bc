// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestGetSortsSelectsAndFormats reads boxes in further ways than the tests of printing and of field selectors.
func TestGetSortsSelectsAndFormats(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(pausedBoxes("a", "b", "c"), "create", "--filename=-")
	n.Kubectl.Run("scale", "mb", "a", "--replicas=3")
	n.Kubectl.Run("scale", "mb", "c", "--replicas=2")
	n.Kubectl.Run("label", "mb", "a", "c", "team=ours")
	for _, box := range []string{"a", "b", "c"} {
		n.AwaitPaused(box)
	}
	for _, test := range []struct {
		arguments string
		want      []string
	}{
		{"get mb --output=name --sort-by=.spec.replicas", boxNames("b", "c", "a")},
		{"get mb --output=name --sort-by=.spec.replicas --selector=team=ours", boxNames("c", "a")},
		{"get mb --output=name --selector=team!=ours", boxNames("b")},
		{"get mb --output=name --chunk-size=1", boxNames("a", "b", "c")},
		{"get mb --output=name --all-namespaces --field-selector=metadata.namespace=" + n.Name, boxNames("a", "b", "c")},
		{"get mb c b --output=name", boxNames("c", "b")},
		{"get mb b --label-columns=app", []string{
			"NAME READY UP-TO-DATE STATUS IMAGE ADDRESS AGE APP",
			"b 0/1 0 Paused nginx:1.7.9 <none> <age> shop",
		}},
		{"get mb --output=custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas", []string{"NAME REPLICAS", "a 3", "b 1", "c 2"}},
		{"get mb --output=jsonpath={.items[?(@.spec.replicas==2)].metadata.name}", []string{"c"}},
		{"get mb a --output=go-template={{.spec.image}}", []string{framework.Image}},
		{"get mb a --subresource=scale --output=jsonpath={.kind},{.spec.replicas},{.status.selector}", []string{"Scale,3,modelbox=a"}},
		{"get mb a --subresource=status --output=jsonpath={.kind},{.status.observedGeneration}", []string{"ModelBox,2"}},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			framework.ExpectEqual(t, "rows", test.want, rowsOf(n.In(t).Kubectl.Run(strings.Fields(test.arguments)...)))
		})
	}
	for _, arguments := range []string{
		"get mb a --output=json --show-managed-fields",
		"get mb a --output=yaml --show-managed-fields",
		"get --raw /apis/model.github.com/v1/namespaces/" + n.Name + "/modelboxes/a",
	} {
		t.Run(arguments, func(t *testing.T) {
			n := n.In(t)
			var got modelv1.ModelBox
			if err := yaml.UnmarshalStrict([]byte(n.Kubectl.Run(strings.Fields(arguments)...)), &got); err != nil {
				t.Fatal(err)
			}
			framework.ExpectEqual(t, "kind", "ModelBox", got.Kind)
			want := n.GetBox("a")
			want.TypeMeta = got.TypeMeta
			framework.ExpectEqual(t, "box", want, &got)
		})
	}
}

// TestWaitReturnsWhenMet waits in each way of kubectl, for conditions that are already met or become met meanwhile.
func TestWaitReturnsWhenMet(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	wait := func(what ...string) func() framework.KubectlResult {
		command := n.Kubectl.Command(append([]string{"wait", "modelbox/web", "--timeout=" + framework.Patience.String()}, what...)...)
		ended := make(chan framework.KubectlResult, 1)
		go func() { ended <- framework.RunKubectl(command, "") }()
		return func() framework.KubectlResult { return <-ended }
	}
	expectMet := func(what string, awaited func() framework.KubectlResult) {
		t.Helper()
		if run := awaited(); run.Err != nil {
			t.Fatalf("the wait for %s: %v %s", what, run.Err, run.Stderr)
		}
	}

	created := wait("--for=create")
	n.CreateBox(framework.NewBox("web"))
	expectMet("the box", created)

	expectMet("a condition", wait("--for=condition=Ready"))
	if err := framework.CheckCondition(n.GetBox("web"), modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
		t.Errorf("the box after the wait: %v", err)
	}

	scaled := wait("--for=jsonpath={.status.readyReplicas}=2")
	n.Kubectl.Run("scale", "mb", "web", "--replicas=2")
	expectMet("a field of the status", scaled)
	framework.ExpectEqual(t, "ready replicas after the wait", int32(2), n.GetBox("web").Status.ReadyReplicas)

	deleted := wait("--for=delete")
	n.Kubectl.Run("delete", "mb", "web", "--wait=false")
	expectMet("the end of the box", deleted)
	n.ExpectNoBox("web")

	n.CreateBox(framework.NewBox("paused", framework.Pause))
	n.Kubectl.Run("wait", "modelbox", "--all", "--for=condition=Ready=false", "--timeout="+framework.Patience.String())
	complaint := n.Kubectl.RunFailing("", "wait", "modelbox/paused", "--for=condition=Ready", "--timeout=1s")
	if !strings.Contains(complaint, "timed out waiting for the condition on modelboxes/paused") {
		t.Error(complaint)
	}
}

// pausedBoxes is a manifest of boxes that are labelled as one application and never get a pod.
func pausedBoxes(names ...string) string {
	var manifest strings.Builder
	for _, name := range names {
		fmt.Fprintf(&manifest, "---\n{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: %s, labels: {app: shop}}, "+
			"spec: {image: '%s', paused: true}}\n", name, framework.Image)
	}
	return manifest.String()
}

// boxNames are the names of the resource in kubectl.
func boxNames(names ...string) []string {
	var long []string
	for _, name := range names {
		long = append(long, "modelbox.model.github.com/"+name)
	}
	return long
}
