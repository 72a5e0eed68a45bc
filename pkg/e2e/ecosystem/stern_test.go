// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestStern follows the logs of a box with stern, before and after a restart of the box.
func TestStern(t *testing.T) {
	framework.RequireContainerNode(t)
	n := framework.NewControlPlane(t, framework.ContainerNodeFlags()...).NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithImage("localcluster/testapp:1"), framework.WithReplicas(2),
		framework.WithPorts(), func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{"count", "100ms"} }))
	followers := map[string]program{}
	for _, query := range []string{"deployment/web", "--selector=app.kubernetes.io/instance=web", "^web-"} {
		followers[query] = startProgram(t, n.ControlPlane.ProgramCommand(t.Context(), "stern", query, "--namespace="+n.Name, "--color=never"))
	}
	expectFollowed := func(when string) {
		for query, follower := range followers {
			t.Run(query+", "+when, func(t *testing.T) {
				n := n.In(t)
				for pod := range n.PodUIDs("web") {
					n.Eventually("the log of pod "+pod+" is shown", func() error { return checkShown(follower, pod) })
				}
			})
		}
	}
	expectFollowed("at first")
	restart := &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := n.Boxes.CreateRestart(n.Ctx, "web", restart, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
	expectFollowed("after a restart of the box")
	t.Run("the kind ModelBox is not found", func(t *testing.T) {
		output, err := n.ControlPlane.ProgramCommand(t.Context(), "stern", "modelbox/web", "--namespace="+n.Name, "--no-follow").CombinedOutput()
		if err == nil {
			t.Errorf("stern prints %q", output)
		}
	})
}

// checkShown returns nil if stern has shown a line of the log of a pod.
func checkShown(stern program, pod string) error {
	content, err := os.ReadFile(stern.log)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		// Lines for the start and the end of the log begin with a sign.
		if strings.HasPrefix(line, pod+" ") {
			return nil
		}
	}
	return fmt.Errorf("%d bytes of other lines are shown", len(content))
}
