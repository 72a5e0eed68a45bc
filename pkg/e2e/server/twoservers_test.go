// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	restlessBoxes = 40
	// changePeriod is long enough that a Lease of a few seconds is renewed in time on a small machine.
	changePeriod = 20 * time.Millisecond
	// changesInBetween is the number of changes that a test waits for, so that the servers are busy with changes.
	changesInBetween = 100
)

// TestLeaderHandsOverBetweenTwoServers runs two servers with one etcd. It is not parallel, because the Leases are short.
func TestLeaderHandsOverBetweenTwoServers(t *testing.T) {
	// The Lease of the first server does not expire during the test. It is only handed over by its release.
	p := framework.NewControlPlane(t, framework.ServerFlags(append(framework.ExternalEtcd, "--leader-elect-lease-duration=1h", "--leader-elect-retry-period=500ms")...)...)
	first := p.AwaitLeader(t, "")
	second := startPeer(t, p, "--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=200ms")
	n := p.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))

	if !t.Run("a clean stop hands over", func(t *testing.T) { stopLeader(n.In(t), second, first) }) {
		return
	}
	t.Run("a leader that was frozen does not write", func(t *testing.T) { freezeLeader(n.In(t), second) })
}

// stopLeader stops the first server, the leader, and waits until the second server is the leader.
func stopLeader(n *framework.Namespace, second *peer, leader *coordinationv1.Lease) {
	n.T.Helper()
	stopped, began := n.ControlPlane.ServerPID(n.T), time.Now()
	if err := syscall.Kill(stopped, syscall.SIGTERM); err != nil {
		n.T.Fatal(err)
	}
	change := func() {
		image := fmt.Sprintf("nginx:%d", time.Now().UnixNano())
		servedBy(n, second).UpdateBox("web", framework.WithImage(image))
		n.AwaitDeployment("web", "has the new image", func(deployment *appsv1.Deployment) error {
			return framework.CheckImage(deployment, image)
		})
	}
	change() // by either server: the first server is the leader until it has stopped
	n.ControlPlane.AwaitLeader(n.T, *leader.Spec.HolderIdentity)
	n.T.Logf("%s after SIGTERM to the leader, the other server leads", time.Since(began).Round(time.Millisecond))
	change()
	writes := n.Audit.ClusterWrites()
	if last := writes[len(writes)-1]; !second.Sent(last) {
		n.T.Errorf("%s %s was not sent by the second server", last.Verb, last.RequestURI)
	}
	n.AwaitServerRestart(stopped)
}

// freezeLeader freezes the second server, the leader, during changes, and resumes it after the first server has become the leader
// and applied them.
func freezeLeader(n *framework.Namespace, second *peer) {
	createRestless(n)
	changes := startChanging(n)
	defer changes.stop()
	changes.await(changesInBetween)
	frozen := n.ControlPlane.AwaitLeader(n.T, "")
	second.Signal(n.T, syscall.SIGSTOP)
	n.T.Logf("frozen after %d changes", changes.count.Load())
	taken := n.ControlPlane.AwaitLeader(n.T, *frozen.Spec.HolderIdentity)
	changes.await(changesInBetween)
	changes.stop()
	awaitAgreement(n)

	changes = startChanging(n)
	defer changes.stop()
	changes.await(1)
	second.Signal(n.T, syscall.SIGCONT)
	n.Eventually("the woken server stops reconciling", func() error { return second.logs("Stopped reconciling") })
	changes.stop()
	awaitAgreement(n)

	expectNoWrites(n, second, taken.Spec.AcquireTime.Time)
	if leader := n.ControlPlane.AwaitLeader(n.T, ""); *leader.Spec.HolderIdentity != *taken.Spec.HolderIdentity {
		n.T.Errorf("%s leads, want %s", *leader.Spec.HolderIdentity, *taken.Spec.HolderIdentity)
	}
	expectQuietLog(n, second)

	// The resumed server is not the leader, and can become the leader again.
	stopLeader(n, second, taken)
}

// expectNoWrites checks that no write of a child or a status by the server succeeded after a time. Events that it was sending when
// it was frozen can succeed: unlike the update of an object, a new event has no resourceVersion, and therefore no conflict when it
// arrives late.
func expectNoWrites(n *framework.Namespace, p *peer, since time.Time) {
	n.T.Helper()
	before, attempts, events := 0, 0, 0
	check := func(write auditv1.Event, at metav1.MicroTime) {
		switch {
		case !at.After(since):
			before++
		case write.ObjectRef.Resource == "events":
			events++
		case framework.IsAccepted(write):
			n.T.Errorf("%s after another server took over: %s %s", at.Sub(since), write.Verb, write.RequestURI)
		default:
			attempts++
		}
	}
	for _, write := range framework.ReadWrites(n.T, n.ControlPlane.ClusterAuditLog(), n.Name) {
		if p.Sent(write) {
			check(write, write.StageTimestamp)
		}
	}
	// It serves its own statuses. It observed writes from the time of its freeze only after it was resumed.
	for _, write := range framework.ReadWrites(n.T, p.AuditLog, n.Name) {
		if write.ObjectRef.Subresource == "status" {
			check(write, write.RequestReceivedTimestamp)
		}
	}
	if before == 0 {
		n.T.Error("the server wrote nothing while it was the leader")
	}
	n.T.Logf("the woken server had written %d times while it led; %d later requests were refused, %d events were late", before, attempts, events)
}

// expectQuietLog checks that the server logs no refused writes. client-go may log responses that the server was reading when it was
// frozen.
func expectQuietLog(n *framework.Namespace, p *peer) {
	n.T.Helper()
	log, err := os.ReadFile(p.Log)
	if err != nil {
		n.T.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "another process may be leading") && !strings.Contains(line, "reading response body") {
			n.T.Errorf("the resumed server logs: %s", line)
		}
	}
}

func restless(number int64) string { return fmt.Sprintf("restless-%d", number%restlessBoxes) }

// createRestless creates boxes for changes. They have no pods, which would slow down the changes.
func createRestless(n *framework.Namespace) {
	n.T.Helper()
	for number := range int64(restlessBoxes) {
		n.CreateBox(framework.NewBox(restless(number), framework.WithReplicas(0)))
	}
	awaitAgreement(n)
}

// churn changes all boxes in turn. Each change affects the Deployment and the Service.
type churn struct {
	n     *framework.Namespace
	count atomic.Int64
	stop  func()
}

// startChanging changes boxes until stop is called. stop may be called several times.
func startChanging(n *framework.Namespace) *churn {
	c := &churn{n: n}
	ctx, cancel := context.WithCancel(n.Ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(changePeriod)
		defer ticker.Stop()
		for ctx.Err() == nil {
			c.changeNext(ctx)
			<-ticker.C
		}
	})
	c.stop = func() {
		cancel()
		running.Wait()
	}
	return c
}

func (c *churn) changeNext(ctx context.Context) {
	number := c.count.Load()
	patch := fmt.Sprintf(`{"spec":{"image":"nginx:%d","ports":[{"port":%d}]}}`, time.Now().UnixNano(), 1000+number%10_000)
	_, err := c.n.Boxes.Patch(ctx, restless(number), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && ctx.Err() == nil {
		c.n.T.Errorf("changing box %s: %v", restless(number), err)
	}
	c.count.Add(1)
}

// await waits for a number of further changes.
func (c *churn) await(more int64) {
	c.n.T.Helper()
	enough := c.count.Load() + more
	c.n.Eventually(fmt.Sprintf("%d changes", more), func() error {
		if count := c.count.Load(); count < enough {
			return fmt.Errorf("%d of %d changes were made", count, enough)
		}
		return nil
	})
}

// awaitAgreement waits until the children of all boxes match, and the statuses report it.
func awaitAgreement(n *framework.Namespace) {
	n.T.Helper()
	n.Eventually("children are what their boxes say", func() error {
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		deployments, err := n.Deployments.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		services, err := n.Services.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		images, ports := map[string]string{}, map[string]int32{}
		for _, deployment := range deployments.Items {
			images[deployment.Name] = deployment.Spec.Template.Spec.Containers[0].Image
		}
		for _, service := range services.Items {
			ports[service.Name] = service.Spec.Ports[0].Port
		}
		for i := range boxes.Items {
			box := &boxes.Items[i]
			if images[box.Name] != box.Spec.Image || ports[box.Name] != box.Spec.Ports[0].Port {
				return fmt.Errorf("box %s: %s, port %d, but the children have %s, port %d", box.Name,
					box.Spec.Image, box.Spec.Ports[0].Port, images[box.Name], ports[box.Name])
			}
			if err := framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, ""); err != nil {
				return fmt.Errorf("box %s: %w", box.Name, err)
			}
		}
		return nil
	})
}
