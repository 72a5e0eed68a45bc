// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestDeletionReportsPodsWithTheContainer checks that the deletion changes no pods, except for pods of boxes that are restarted on
// request.
func TestDeletionReportsPodsWithTheContainer(t *testing.T) {
	n := newNamespace(t)
	createPods(n, "web", "bare")
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), func(spec *modelv1.ModelBoxSpec) { spec.Labels = map[string]string{"app": "web"} }))
	before := n.PodUIDs("web")

	const ofWeb = `selector: {matchLabels: {app: web}}, image: "busybox:1.37"`
	n.ApplyPodDebugger("kept", ofWeb)
	kept := n.AwaitDebugged("kept", 3).Status.ContainerName
	deleted := framework.RunKubectl(n.Kubectl.Command("delete", "pdbg", "kept"), "")
	if want := "Warning: " + warn.ContainerStays(kept, ""); !strings.Contains(deleted.Stderr, want) || !strings.Contains(deleted.Stderr, "bare") {
		t.Errorf("kubectl says %q, want %q and bare", deleted.Stderr, want)
	}
	expectContainers(n, "bare", kept)
	framework.ExpectEqual(t, "the pods of the box", before, n.PodUIDs("web"))

	n.ApplyPodDebugger("restarting", ofWeb+", whenDeleted: RestartBoxes")
	restarting := n.AwaitDebugged("restarting", 3).Status.ContainerName
	deleted = framework.RunKubectl(n.Kubectl.Command("delete", "pdbg", "restarting"), "")
	for _, want := range []string{
		"Warning: " + warn.ContainerStays(restarting, "bare"),
		"Warning: " + warn.BoxesRestart(restarting, "web"),
	} {
		if !strings.Contains(deleted.Stderr, want) {
			t.Errorf("kubectl says %q, want %q", deleted.Stderr, want)
		}
	}
	if _, err := n.PodDebuggers().Get(n.Ctx, "restarting", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after it was deleted: %v", err)
	}
	n.Events.Await("web", "Restarted")
	n.Eventually("the pods of the box are others", func() error {
		pods, err := n.LivePods("web")
		if err != nil {
			return err
		}
		for i := range pods {
			if _, isOld := before[pods[i].Name]; isOld || len(pods[i].Spec.EphemeralContainers) > 0 {
				return fmt.Errorf("pod %s has %d ephemeral containers", pods[i].Name, len(pods[i].Spec.EphemeralContainers))
			}
		}
		return nil
	})
	n.AwaitReady("web")
	expectContainers(n, "bare", kept, restarting)
}

// TestDeletionRestartsNoBoxForForgedPods adds the container to a pod with the label of a box and another controller.
func TestDeletionRestartsNoBoxForForgedPods(t *testing.T) {
	n := newNamespace(t)
	n.CreateReadyBox(framework.NewBox("victim"))
	n.Kubectl.RunWithInput(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: made-up}, spec: {selector: {matchLabels: {app: made-up}}, template: {
		metadata: {labels: {app: made-up, modelbox: victim}}, spec: {
			securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}},
			containers: [{name: web, image: "nginx:1.7.9", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}}}`,
		"create", "--filename=-")
	n.ApplyPodDebugger("tools", `selector: {matchLabels: {app: made-up}}, image: "busybox:1.37", whenDeleted: RestartBoxes`)
	debugger := n.AwaitDebugged("tools", 1)
	framework.ExpectEqual(t, "the box of the pod", "", debugger.Status.Pods[0].Box)
	n.Kubectl.Run("delete", "pdbg", "tools")
	if template := n.GetBox("victim").Spec.PodTemplate; template != nil && template.Annotations[modelv1.RestartedAtAnnotation] != "" {
		t.Errorf("box victim was restarted at %s", template.Annotations[modelv1.RestartedAtAnnotation])
	}
}
