// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// drainKeepsTheDisruptionBudget checks that a drain evicts one of two pods, and waits with the other one until there is a node for
// the replacement, which is the same node here. No request may be lost.
func drainKeepsTheDisruptionBudget(n *framework.Namespace) {
	// A drain selects pods of all namespaces. No other test has a box with this name.
	const name = "drained"
	n.CreateReadyBox(newAppBox(name, checkedOften, framework.WithReplicas(2), func(spec *modelv1.ModelBoxSpec) {
		spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(1))}
	}))
	awaitAnswer(n, name, "/version")
	n.AwaitDisruptionBudget(name, 2, 1)
	before := namesOf(n, "pods")
	traffic := startTraffic(n.T, &http.Transport{}, nodePortURL(n, name, 80)+"/version")

	drain := make(chan framework.KubectlResult, 1)
	go func() {
		drain <- framework.RunKubectl(n.Kubectl.Command("drain", containerNode, "--pod-selector="+modelv1.SelectorLabel+"="+name, "--timeout=5m"), "")
	}()
	uncordon := func() { n.Kubectl.Run("uncordon", containerNode) }
	defer uncordon()
	n.AwaitDisruptionBudget(name, 1, 0)
	n.Eventually("the replacement finds no node", func() error {
		pods, err := n.LivePods(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Spec.NodeName == "" }) {
			return errors.New("every pod has one")
		}
		return nil
	})
	select {
	case run := <-drain:
		n.T.Fatalf("the drain did not wait: %v\n%s%s", run.Err, run.Stdout, run.Stderr)
	default:
	}
	uncordon()
	run := <-drain
	if refusal := "it would violate the pod's disruption budget"; run.Err != nil || !strings.Contains(run.Stderr, refusal) {
		n.T.Errorf("the drain: %v, want that it says %q\n%s%s", run.Err, refusal, run.Stdout, run.Stderr)
	}
	awaitSettledPods(n, name, 2)
	for _, pod := range namesOf(n, "pods") {
		if slices.Contains(before, pod) {
			n.T.Errorf("pod %s was not evicted", pod)
		}
	}
	traffic.expectNoneLost(n, "1")
}
