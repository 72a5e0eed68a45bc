// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// sampleAnswers checks that the sample responds at its node port from outside of the cluster, and at its cluster IP from a pod.
func sampleAnswers(n *framework.Namespace) {
	remove := func() {
		n.Kubectl.Run("delete", "--filename="+framework.Sample("modelbox.yaml"), "--cascade=foreground")
	}
	// The next test uses the same node port.
	defer remove()
	for _, start := range []string{"cold", "warm"} {
		applied := time.Now()
		n.Kubectl.Run("apply", "--filename="+framework.Sample("modelbox.yaml"))
		n.AwaitService("modelbox-sample", "exists", func(*corev1.Service) error { return nil })
		answer := awaitAnswer(n, "modelbox-sample", "/")
		n.T.Logf("%s start: %.1f s from apply to the first answer", start, time.Since(applied).Seconds())
		if !strings.Contains(answer, "modelbox-sample-") {
			n.T.Errorf("this is not the answer of one of its pods: %s", answer)
		}
		n.AwaitReady("modelbox-sample")
		if start == "cold" {
			remove()
		}
	}

	service := n.GetService("modelbox-sample")
	framework.ExpectEqual(n.T, "node port", int32(30010), service.Spec.Ports[0].NodePort)
	n.CreateReadyBox(newAppBox("client"))
	n.Eventually("a pod reaches the cluster IP", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("exec", "deployment/client", "--", "/testapp", "get", "http://"+service.Spec.ClusterIP+"/"), "")
		if run.Err == nil && !strings.Contains(run.Stdout, "modelbox-sample-") {
			n.T.Errorf("this is not the answer of one of the sample's pods: %s", run.Stdout)
		}
		return run.Err
	})
}
