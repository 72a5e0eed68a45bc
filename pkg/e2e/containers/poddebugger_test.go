// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// podDebuggersSeeTheirTargets adds containers of a PodDebugger to the pods of a box. They run, see the processes of the
// application, and their logs and the state of an ended container can be read.
func podDebuggersSeeTheirTargets(n *framework.Namespace) {
	const image, archive, busybox = "localcluster/mariadb:1", "localcluster-mariadb-1.tar", "/bin/busybox"
	if !hasImage(archive) {
		n.T.Skip("no image with a shell has been built")
	}
	n.ControlPlane.GrantPodDebugger(n.T)
	n.CreateReadyBox(newAppBox("web", framework.WithReplicas(2)))

	spec := fmt.Sprintf("selector: {matchLabels: {modelbox: web}}, image: %q, command: [%s, sh, -c]", image, busybox)
	n.ApplyPodDebugger("tools", spec+`, args: ["`+busybox+` ps; exec `+busybox+` sleep 3600"]`)
	debugger := n.AwaitPodDebugger("tools", "is Ready", func(debugger *modelv1.PodDebugger) error {
		if debugger.Status.RunningPods != 2 {
			return fmt.Errorf("its status is %+v", debugger.Status)
		}
		return framework.CheckPodDebugger(debugger, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
	const process = "/testapp -version=1"
	for _, pod := range debugger.Status.Pods {
		framework.ExpectEqual(n.T, "the box of "+pod.Name, "web", pod.Box)
		n.Eventually("the log of "+pod.Name+" has the processes of the application", func() error {
			if logs := n.Kubectl.Run("logs", pod.Name, "--container="+debugger.Status.ContainerName); !strings.Contains(logs, process) {
				return fmt.Errorf("it is %q", logs)
			}
			return nil
		})
		if processes := n.Kubectl.Run("exec", pod.Name, "--container="+debugger.Status.ContainerName, "--", busybox, "ps"); !strings.Contains(processes, process) {
			n.T.Errorf("the container of %s sees %s", pod.Name, processes)
		}
	}

	n.ApplyPodDebugger("failing", spec+`, args: ["exit 3"], maxPods: 1`)
	failing := n.AwaitPodDebugger("failing", "tells how its container ended", func(debugger *modelv1.PodDebugger) error {
		if pods := debugger.Status.Pods; len(pods) != 1 || pods[0].State == nil || pods[0].State.Terminated == nil {
			return fmt.Errorf("its status is %+v", debugger.Status)
		}
		return nil
	})
	framework.ExpectEqual(n.T, "the exit code", int32(3), failing.Status.Pods[0].State.Terminated.ExitCode)
	if restarts := restartsOf(n, "web"); restarts != 0 {
		n.T.Errorf("the containers of the box were started again %d times", restarts)
	}
}
