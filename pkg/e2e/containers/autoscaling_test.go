// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// mostPods is the maximum number of pods of the autoscaler of a box under load.
const mostPods = 3

// boxFollowsItsLoad checks an autoscaler with the CPU metrics of the kubelet. It scales a busy box from one pod to three, and an
// idle box back to one. No request may be lost.
func boxFollowsItsLoad(n *framework.Namespace) {
	if !hasImage("localcluster-metrics-server-1.tar") {
		n.T.Skip("there is no image of what collects metrics")
	}
	defer collectMetrics(n)()
	n.CreateReadyBox(newAppBox("web", checkedOften, autoscaledByCPU))
	awaitAnswer(n, "web", "/version")
	url := nodePortURL(n, "web", 80)
	traffic := startTraffic(n.T, &http.Transport{}, url+"/version")

	began := time.Now()
	endLoad := startLoad(n.T, url)
	awaitScale(n, mostPods)
	n.T.Logf("%d pods after %s of load", mostPods, time.Since(began).Round(time.Second))
	expectTop(n)
	endLoad()
	idle := time.Now()
	awaitScale(n, 1)
	n.T.Logf("1 pod %s after the load", time.Since(idle).Round(time.Second))
	awaitSettledPods(n, "web", 1)
	traffic.expectNoneLost(n, "1")
}

// startLoad keeps a CPU busy with requests to the application until the returned function is called or the test ends.
func startLoad(t *testing.T, url string) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() {
		for ctx.Err() == nil {
			if _, err := visit(http.MethodPost, url+"/cpu/1"); err != nil {
				t.Errorf("a request that is load: %v", err)
			}
		}
	})
	end = func() {
		cancel()
		load.Wait()
	}
	t.Cleanup(end)
	return end
}

// expectTop waits until "kubectl modelbox top" shows the usage of the box.
func expectTop(n *framework.Namespace) {
	n.T.Helper()
	line := regexp.MustCompile(`(?m)^web +([0-9]/)?[0-9] +[1-9][0-9]*m +[1-9][0-9]*% +[1-9][0-9]*Mi +<none>$`)
	n.Eventually("kubectl modelbox top shows the box", func() error {
		command := exec.CommandContext(n.Ctx, framework.Binary("kubectl-modelbox"), "top", "web", "--namespace="+n.Name, "--kubeconfig="+n.ControlPlane.Kubeconfig())
		table, err := command.CombinedOutput()
		if err != nil || !line.Match(table) {
			return fmt.Errorf("%v:\n%s", err, table)
		}
		return nil
	})
	expectRecommendation(n)
	expectUsageInDashboard(n)
}

// expectUsageInDashboard waits until "kubectl modelbox dashboard" serves the usage of the box.
func expectUsageInDashboard(n *framework.Namespace) {
	n.T.Helper()
	command := exec.CommandContext(n.Ctx, framework.Binary("kubectl-modelbox"), "dashboard", "--namespace="+n.Name, "--kubeconfig="+n.ControlPlane.Kubeconfig())
	output, err := command.StdoutPipe()
	if err != nil {
		n.T.Fatal(err)
	}
	if err := command.Start(); err != nil {
		n.T.Fatal(err)
	}
	defer func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	}()
	page := ""
	for lines := bufio.NewScanner(output); page == "" && lines.Scan(); {
		page = regexp.MustCompile(`http:\S+`).FindString(lines.Text())
	}
	// The command exchanges the token in the URL for a cookie.
	jar, err := cookiejar.New(nil)
	if err != nil {
		n.T.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: answerTimeout}
	get := func(url string) (string, error) {
		request, err := http.NewRequestWithContext(n.Ctx, http.MethodGet, url, nil)
		if err != nil {
			return "", err
		}
		return framework.Answer(client, request)
	}
	if _, err := get(page); err != nil {
		n.T.Fatal(err)
	}
	address, _, _ := strings.Cut(page, "?")
	n.Eventually("the dashboard serves the usage of the box", func() error {
		body, err := get(address + "usage/web")
		if err != nil {
			return err
		}
		var usage struct {
			Time     metav1.Time
			Measured int
			CPU      struct{ Used, Requested int64 }
			Memory   struct{ Used int64 }
		}
		if err := json.Unmarshal([]byte(body), &usage); err != nil {
			return err
		}
		if usage.Time.IsZero() || usage.Measured == 0 || usage.CPU.Used == 0 || usage.CPU.Requested == 0 || usage.Memory.Used == 0 {
			return fmt.Errorf("the usage is %s", body)
		}
		return nil
	})
}

// expectRecommendation tries the command that "kubectl modelbox top --recommend" prints, for the memory that the box does not request.
func expectRecommendation(n *framework.Namespace) {
	n.T.Helper()
	const prefix = "kubectl modelbox "
	var recommended string
	for line := range strings.Lines(runPlugin(n, "top", "web", "--recommend")) {
		if arguments, isCommand := strings.CutPrefix(strings.TrimSpace(line), prefix); isCommand {
			recommended = arguments
		}
	}
	if !strings.HasPrefix(recommended, "set resources web ") || !strings.Contains(recommended, "memory=") {
		n.T.Fatalf("the recommended command is %q", prefix+recommended)
	}
	runPlugin(n, append(strings.Fields(recommended), "--dry-run=server")...)
}

// collectMetrics starts metrics of pods, and waits until the cluster serves them. It returns a function that stops them.
func collectMetrics(n *framework.Namespace) (end func()) {
	n.T.Helper()
	server, api := "--filename="+filepath.Join("testdata", "metrics-server.yaml"), "--filename="+filepath.Join("testdata", "metrics-apiservice.yaml")
	const inSystem = "--namespace=" + metav1.NamespaceSystem
	n.Kubectl.Run("apply", server, inSystem)
	n.Kubectl.Run("rollout", "status", "deployment/metrics-server", "--timeout=5m", inSystem)
	// The cluster does not complete the deletion of namespaces while an APIService is unavailable.
	n.Kubectl.Run("apply", api)
	n.Kubectl.Run("wait", "--for=condition=Available", "--timeout=5m", api)
	return func() {
		n.Kubectl.Run("delete", api)
		n.Kubectl.Run("delete", server, inSystem)
	}
}

// autoscaledByCPU requests more CPU than the traffic of the test needs. A busy pod can use four times as much, which is more than
// the target of two pods.
func autoscaledByCPU(spec *modelv1.ModelBoxSpec) {
	spec.Resources = &corev1.ResourceRequirements{Requests: framework.Resources("200m", ""), Limits: framework.Resources("800m", "")}
	spec.Autoscaling = &modelv1.ModelBoxAutoscaling{
		MaxReplicas: mostPods,
		CPU:         ptr.To[int32](100),
		Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](0)},
		},
	}
}

// awaitScale waits until the autoscaler has scaled the box to a number of pods and it is Ready. The timeout includes the delay of
// metrics.
func awaitScale(n *framework.Namespace, pods int) {
	n.T.Helper()
	framework.Eventually(n.T, 3*time.Minute, fmt.Sprintf("the box is scaled to %d pods", pods), func() error {
		box := n.GetBox("web")
		if *box.Spec.Replicas != int32(pods) || box.Status.ReadyReplicas != int32(pods) {
			return fmt.Errorf("it has %d of %d replicas", box.Status.ReadyReplicas, *box.Spec.Replicas)
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}
