// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	countingPods = 4
	rollouts     = 3
	// followers is the number of concurrent readers of the logs.
	followers = 50
	// longestShutdown is the time limit for a shutdown of a server that does not wait for streams.
	longestShutdown = 30 * time.Second
)

// newCountingBox returns a box whose pods write numbered lines, and a hundred further lines after SIGTERM.
func newCountingBox(name string, replicas int) *modelv1.ModelBox {
	return newAppBox(name, framework.WithReplicas(int32(replicas)), withArgs("count", "20ms"), func(spec *modelv1.ModelBoxSpec) {
		spec.Ports, spec.ServiceType = nil, ""
	})
}

// logsFollowABox reads the logs of boxes with and without following them.
func logsFollowABox(n *framework.Namespace) {
	n.ControlPlane.GrantPodAccess(n.T)
	for _, test := range []struct {
		name string
		run  func(n *framework.Namespace)
	}{
		{"logs follow a box through rolling updates, and no line is lost or shown twice", logsFollowRollouts},
		{"logs follow a container that is started again", logsFollowRestarts},
		{"many followers leave nothing behind", manyFollowers},
		{"followers get an error when the server stops", followersAreToldOfTheEnd},
	} {
		n.T.Run(test.name, func(t *testing.T) { test.run(n.In(t)) })
	}
}

// follow follows the logs of a box.
func follow(n *framework.Namespace, ctx context.Context, box string) *framework.Logs {
	n.T.Helper()
	stream, err := n.OpenLogs(ctx, n.ControlPlane.Config, box, &modelv1.ModelBoxLogOptions{Follow: true})
	if err != nil {
		n.T.Fatal(err)
	}
	return framework.ReadLogs(stream)
}

// logsFollowRollouts counts the lines of each pod, from the first line to the lines during its stop.
func logsFollowRollouts(n *framework.Namespace) {
	n.CreateReadyBox(newCountingBox("counting", countingPods))
	logs := follow(n, n.Ctx, "counting")
	for rollout := range rollouts {
		n.UpdateBox("counting", func(spec *modelv1.ModelBoxSpec) {
			spec.Envs = []corev1.EnvVar{{Name: "ROLLOUT", Value: fmt.Sprint(rollout)}}
		})
		n.AwaitReady("counting")
	}
	if err := n.Boxes.Delete(n.Ctx, "counting", metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	byPod, err := logs.Await()
	if err != nil {
		n.T.Errorf("the stream ends with %v", err)
	}
	if got, want := len(byPod), countingPods*(1+rollouts); got < want {
		n.T.Errorf("there are lines of %d pods, want %d", got, want)
	}
	total := 0
	for pod, lines := range byPod {
		total += len(lines)
		expectCounted(n.T, pod, lines)
	}
	n.T.Logf("%d lines of %d pods", total, len(byPod))
}

// expectCounted fails unless each line exists once, in order, including the last line.
func expectCounted(t *testing.T, pod string, lines []string) {
	t.Helper()
	for i, line := range lines {
		want := fmt.Sprintf("line %d", i+1)
		if i == len(lines)-1 {
			want = fmt.Sprintf("end %d", i)
		}
		if line != want {
			t.Errorf("%s: line %d of %d is %q, want %q", pod, i+1, len(lines), line, want)
			return
		}
	}
}

// logsFollowRestarts follows a container that repeatedly ends and is restarted. It starts to follow before the container exists.
func logsFollowRestarts(n *framework.Namespace) {
	const instances, lines = 3, 50
	n.CreateBox(newAppBox("restarting", withArgs("count", "1ms", fmt.Sprint(lines)), func(spec *modelv1.ModelBoxSpec) {
		spec.Ports, spec.ServiceType = nil, ""
	}))
	ctx, cancel := context.WithCancel(n.Ctx)
	defer cancel()
	logs := follow(n, ctx, "restarting")
	n.Eventually("there are the lines of all instances", func() error { return expectLines(logs, instances*(lines+1)) })
	cancel()
	byPod, _ := logs.Await()
	for pod, got := range byPod {
		for len(got) > lines {
			expectCounted(n.T, pod, got[:lines+1])
			got = got[lines+1:]
		}
	}
}

func expectLines(logs *framework.Logs, least int) error {
	if lines, _ := logs.Count(); lines < least {
		return fmt.Errorf("there are %d lines", lines)
	}
	return nil
}

// manyFollowers has 50 followers of a pod, each of which takes one of the 128 instances of inotify that a user of the node has.
// Half of them are broken off, and the others follow the box to its end: the server has as many goroutines and open files as
// before.
func manyFollowers(n *framework.Namespace) {
	goroutines, files := serverCosts(n)
	n.CreateReadyBox(newCountingBox("followed", 1))
	killed, kill := context.WithCancel(n.Ctx)
	defer kill()
	var all []*framework.Logs
	for follower := range followers {
		ctx := n.Ctx
		if follower%2 == 0 {
			ctx = killed
		}
		all = append(all, follow(n, ctx, "followed"))
	}
	for _, logs := range all {
		n.Eventually("a follower has lines", func() error { return expectLines(logs, 1) })
	}
	busyGoroutines, busyFiles := serverCosts(n)
	n.T.Logf("%d followers: %.0f goroutines and %.0f open files, before %.0f and %.0f", followers, busyGoroutines, busyFiles, goroutines, files)
	if busyFiles < files+followers-spare {
		n.T.Errorf("%d followers have %.0f connections", followers, busyFiles-files)
	}
	kill()
	if err := n.Boxes.Delete(n.Ctx, "followed", metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	for follower, logs := range all {
		byPod, err := logs.Await()
		if follower%2 == 0 {
			continue
		}
		if err != nil || len(byPod) != 1 {
			n.T.Errorf("follower %d has lines of %d pods, and ends with %v", follower, len(byPod), err)
		}
		// The last lines of a pod are lost for followers for which the kubelet has no inotify instance.
		for pod, lines := range byPod {
			last := len(lines) - 1
			expectCounted(n.T, pod, append(slices.Clone(lines[:last]), fmt.Sprintf("end %d", last)))
		}
	}
	n.Eventually("the server has as many goroutines and open files as before", func() error {
		nowGoroutines, nowFiles := serverCosts(n)
		if nowGoroutines > goroutines+spare || nowFiles > files+spare {
			return fmt.Errorf("it has %.0f goroutines and %.0f files, before %.0f and %.0f", nowGoroutines, nowFiles, goroutines, files)
		}
		return nil
	})
}

// followersAreToldOfTheEnd checks that a stream that ends with its server returns an error.
func followersAreToldOfTheEnd(n *framework.Namespace) {
	n.CreateReadyBox(newCountingBox("interrupted", 1))
	logs := follow(n, n.Ctx, "interrupted")
	n.Eventually("there are lines", func() error { return expectLines(logs, 1) })
	former := n.ControlPlane.ServerPID(n.T)
	took := n.ControlPlane.SignalServer(n.T, syscall.SIGTERM)
	if took > longestShutdown {
		n.T.Errorf("the server took %s to end", took)
	}
	if _, err := logs.Await(); err == nil {
		n.T.Error("the stream ends as if there was no more")
	}
	n.AwaitServerRestart(former)
}
