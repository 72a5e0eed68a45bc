// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// The images of the test application, hack/images/testapp, which a container node imports at its start.
const (
	appImage    = "localcluster/testapp:1"
	newAppImage = "localcluster/testapp:2"
)

// containerNode is the name of the node that runs containers. The other nodes of its cluster are simulated.
const containerNode = "container-node"

// TestApplicationsRunInContainers checks running applications, which simulated nodes do not have. It uses the machine alone, with a
// control plane with nodes of both kinds.
func TestApplicationsRunInContainers(t *testing.T) {
	plane := newContainerPlane(t)
	// These count the open files of the server.
	t.Run("users get to what runs in a box", func(t *testing.T) { podAccessLeadsToPods(plane.NewNamespace(t)) })
	t.Run("logs of a box", func(t *testing.T) { logsFollowABox(plane.NewNamespace(t)) })
	t.Run("users debug what runs in a box", func(t *testing.T) { debuggersSeeTheTarget(plane.NewNamespace(t)) })
	// A drained node starts no other pods.
	t.Run("a drain keeps the disruption budget", func(t *testing.T) { drainKeepsTheDisruptionBudget(plane.NewNamespace(t)) })
	// A proxy observes the deletion of a pod later than the node, and much later on a busy machine.
	t.Run("a proxy leads to a box, and no change of the box loses a request", func(t *testing.T) { ingressLosesNoRequest(plane.NewNamespace(t)) })
	t.Run("rolling updates, scaling and deleted pods lose no request", func(t *testing.T) { noRequestIsLost(plane.NewNamespace(t)) })
	// A busy application gets little CPU time on a busy machine.
	t.Run("a box follows its load", func(t *testing.T) { boxFollowsItsLoad(plane.NewNamespace(t)) })
	for _, test := range []struct {
		name string
		run  func(n *framework.Namespace)
	}{
		{"the sample answers", sampleAnswers},
		{"a resource class limits the container", resourceClassLimits},
		{"containers start in order, with what they are given", containersGetWhatTheyAreGiven},
		{"an application that listens late becomes Ready without a restart", lateListenerIsNotRestarted},
		{"an application that takes two minutes to start is not killed", slowStarterIsNotKilled},
		{"an application that listens no more is restarted", deafApplicationIsRestarted},
		{"a failing application says why", failingApplicationsSayWhy},
		{"a box deleted in the foreground goes after its pods", foregroundDeletionWaitsForPods},
		{"both kinds of nodes serve one cluster", bothKindsOfNodes},
		{"a stack runs over a database", dataServiceRuns},
		{"a Job runs once before and after a rollout", jobsRunOnce},
		{"a Job tries again until it succeeds", jobRetriesUntilItSucceeds},
		{"a CronJob runs at its minute", cronJobRunsAtItsMinute},
		{"a changed Secret restarts pods without a lost request", changedSecretRestartsPods},
		{"pods are resized in place without a lost request", podsAreResizedInPlace},
		{"pods of a StatefulSet are resized in place", podsOfStatefulSetAreResizedInPlace},
		{"containers of a PodDebugger see the processes of their targets", podDebuggersSeeTheirTargets},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(plane.NewNamespace(t))
		})
	}
}

// newContainerPlane returns a control plane with a container node: the shared control plane if it has such a node, and a separate
// one otherwise. It skips the test if the machine cannot run a container node.
func newContainerPlane(t *testing.T) *framework.ControlPlane {
	t.Helper()
	if shared := framework.SharedControlPlane(); shared != nil {
		if _, err := shared.KubeClient.CoreV1().Nodes().Get(t.Context(), containerNode, metav1.GetOptions{}); err == nil {
			return shared
		}
	}
	framework.RequireContainerNode(t)
	flags := append(framework.ContainerNodeFlags(), "--component=referenced-secrets")
	return framework.NewServiceIngressControlPlane(t, append(flags, framework.ServerFlags("--watch-referenced-secrets")...)...)
}

// hasImage returns whether the archive of an image exists. Some images are not built on all machines.
func hasImage(archive string) bool {
	_, err := os.Stat(filepath.Join(framework.NodeImages(), archive))
	return err == nil
}

// newAppBox returns a small box of the test application with a node port.
func newAppBox(name string, changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	box := framework.NewBox(name, framework.WithImage(appImage), func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeNodePort })
	for _, change := range changes {
		change(&box.Spec)
	}
	return box
}

func withArgs(args ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Args = args }
}

// restartsOf returns the number of restarts of the containers of a box.
func restartsOf(n *framework.Namespace, box string) int32 {
	n.T.Helper()
	pods, err := n.LivePods(box)
	if err != nil {
		n.T.Fatal(err)
	}
	var restarts int32
	for _, pod := range pods {
		for _, container := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			restarts += container.RestartCount
		}
	}
	return restarts
}

// nodesOf returns the names of the nodes of the pods of a box.
func nodesOf(n *framework.Namespace, box string) map[string]bool {
	n.T.Helper()
	pods, err := n.LivePods(box)
	if err != nil {
		n.T.Fatal(err)
	}
	nodes := map[string]bool{}
	for _, pod := range pods {
		nodes[pod.Spec.NodeName] = true
	}
	return nodes
}

// bothKindsOfNodes checks that pods run on the container node unless they select a simulated node.
func bothKindsOfNodes(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("real"))
	n.CreateReadyBox(newAppBox("simulated", framework.WithReplicas(3), func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"type": "kwok"},
			Tolerations:  []corev1.Toleration{{Key: "kwok.x-k8s.io/node", Operator: corev1.TolerationOpExists}},
		}}
	}))
	framework.ExpectEqual(n.T, "nodes of the box that runs", map[string]bool{containerNode: true}, nodesOf(n, "real"))
	if nodes := nodesOf(n, "simulated"); len(nodes) == 0 || nodes[containerNode] {
		n.T.Errorf("the simulated box is on nodes %v", nodes)
	}
}
