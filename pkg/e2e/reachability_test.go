// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// sampleAnswers: the sample is reached through its node port from outside the cluster, and through its cluster IP from a
// pod.
func sampleAnswers(n *namespace) {
	remove := func() { n.kubectl("delete", "--filename="+sample("modelbox.yaml"), "--cascade=foreground") }
	// Whoever comes next wants the same node port.
	defer remove()
	for _, start := range []string{"cold", "warm"} {
		applied := time.Now()
		n.kubectl("apply", "--filename="+sample("modelbox.yaml"))
		n.awaitService("modelbox-sample", "exists", func(*corev1.Service) error { return nil })
		answer := n.awaitAnswer("modelbox-sample", "/")
		n.t.Logf("%s start: %.1f s from apply to the first answer", start, time.Since(applied).Seconds())
		if !strings.Contains(answer, "modelbox-sample-") {
			n.t.Errorf("this is not the answer of one of its pods: %s", answer)
		}
		n.awaitReady("modelbox-sample")
		if start == "cold" {
			remove()
		}
	}

	service := n.service("modelbox-sample")
	expectEqual(n.t, "node port", int32(30010), service.Spec.Ports[0].NodePort)
	n.createReady(newAppBox("client"))
	n.eventually("a pod reaches the cluster IP", func() error {
		run := runKubectl(n.kubectlCommand("exec", "deployment/client", "--", "/testapp", "get", "http://"+service.Spec.ClusterIP+"/"), "")
		if run.err == nil && !strings.Contains(run.stdout, "modelbox-sample-") {
			n.t.Errorf("this is not the answer of one of the sample's pods: %s", run.stdout)
		}
		return run.err
	})
}
