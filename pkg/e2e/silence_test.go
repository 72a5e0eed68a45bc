// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// boxesVariable is how many boxes have to be silent, such as 1000.
	boxesVariable = "MODELBOX_E2E_BOXES"
	silentBoxes   = 100
	// boxWriters is how many clients create them.
	boxWriters = 8
)

// TestSilence counts what the server asks of the cluster for many boxes: each child is written once, and then nothing
// is, when every box is looked at again and when the server starts anew. It has a control plane of its own, whose
// server looks often.
func TestSilence(t *testing.T) {
	t.Parallel()
	plane := newControlPlane(t, serverFlags("--modelbox-resync-period=10s")...)
	n, count := plane.newNamespace(t), setting(t, boxesVariable, silentBoxes, strconv.Atoi)
	createBoxes(n, count)
	n.awaitQuiet(count)
	n.expectWrittenOnce(count)
	settledChildren, settledBoxes := len(n.clusterWrites()), len(n.boxWrites())
	t.Logf("%d boxes took %d writes of children and %d of statuses", count, settledChildren, settledBoxes-count)

	n.awaitReconciles(n.reconciles() + 2*count)
	n.expectSilence("although nothing happened", settledChildren, settledBoxes)

	terminated := plane.serverPID(t)
	plane.signalServer(t, syscall.SIGTERM)
	n.awaitServed(terminated)
	n.awaitReconciles(count)
	n.expectSilence("although the server only started anew", settledChildren, settledBoxes)

	n.change("box-0", withImage(newImage))
	n.awaitReady("box-0")
	n.awaitDeployment("box-0", "is settled", isComplete)
	changed := n.clusterWrites()[settledChildren:]
	if len(changed) != 1 || changed[0].Verb != "patch" || changed[0].ObjectRef.Resource != "deployments" {
		t.Errorf("a change of one image took these writes of children: %+v", changed)
	}
	n.expectUpgradeInSilence(count)
}

// expectUpgradeInSilence lets a server find Deployments of a release that recorded no boxes: it writes each once, which
// rolls nothing and is nothing that a box has to tell.
func (n *namespace) expectUpgradeInSilence(count int) {
	n.t.Helper()
	server := n.plane.serverPID(n.t)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		n.t.Fatal(err)
	}
	childWrites, boxWrites := len(n.clusterWrites()), len(n.boxWrites())
	revisions := n.forgetRecords(count)
	n.plane.signalServer(n.t, syscall.SIGKILL)
	n.awaitServed(server)
	for name, revision := range revisions {
		expectEqual(n.t, "revision of "+name, revision, n.awaitRecord(name).Annotations[rolloutRevision])
		n.awaitDeployment(name, "is settled", isComplete)
	}
	n.awaitReconciles(n.reconciles() + 2*count)
	expectEqual(n.t, "writes of children", count, len(n.clusterWrites())-childWrites)
	n.expectSilence("although only records were missing", childWrites+count, boxWrites)
	for name := range revisions {
		for _, event := range n.eventsAbout(name) {
			if event.Reason == "RestoredDeployment" {
				n.t.Errorf("box %s: %s", name, event.Note)
			}
		}
	}
}

// expectWrittenOnce checks that each child of each box was applied once, and nothing else.
func (n *namespace) expectWrittenOnce(count int) {
	n.t.Helper()
	written := map[string]int{}
	for _, write := range n.clusterWrites() {
		written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
	}
	for i := range count {
		for _, child := range []string{"deployments", "services"} {
			write := fmt.Sprintf("patch %s box-%d", child, i)
			expectEqual(n.t, "times of "+write, 1, written[write])
			delete(written, write)
		}
	}
	expectEqual(n.t, "other writes of workloads", map[string]int{}, written)
}

// expectSilence checks that nothing was written after these writes.
func (n *namespace) expectSilence(when string, childWrites, boxWrites int) {
	n.t.Helper()
	for _, write := range n.clusterWrites()[childWrites:] {
		n.t.Errorf("a write of a child %s: %s %s", when, write.Verb, write.RequestURI)
	}
	for _, write := range n.boxWrites()[boxWrites:] {
		n.t.Errorf("a write of a box %s: %s %s", when, write.Verb, write.RequestURI)
	}
}

// reconciles is how often the present process of the server has looked at a box.
func (n *namespace) reconciles() int {
	n.t.Helper()
	return int(sum(scrape(n.t, n.plane.directClient(n.t)), "modelbox_controller_reconcile_duration_seconds_count", nil))
}

func (n *namespace) awaitReconciles(count int) {
	n.t.Helper()
	n.eventually(fmt.Sprintf("the server has looked at a box %d times", count), func() error {
		if now := n.reconciles(); now < count {
			return fmt.Errorf("it has %d times", now)
		}
		return nil
	})
}

func createBoxes(n *namespace, count int) {
	n.t.Helper()
	var running sync.WaitGroup
	for writer := range boxWriters {
		running.Go(func() {
			for i := writer; i < count; i += boxWriters {
				if _, err := n.boxes.Create(n.ctx, newBox(fmt.Sprintf("box-%d", i)), metav1.CreateOptions{}); err != nil {
					n.t.Errorf("creating box %d: %v", i, err)
				}
			}
		})
	}
	running.Wait()
}

// awaitQuiet waits until that many boxes are Ready and their Deployments are complete. Everything that follows from
// their creation has happened then.
func (n *namespace) awaitQuiet(count int) {
	n.t.Helper()
	timeout := patience + time.Duration(count)*100*time.Millisecond
	eventually(n.t, timeout, fmt.Sprintf("%d boxes are Ready", count), func() error {
		boxes, err := n.boxes.List(n.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range boxes.Items {
			if err := hasCondition(&boxes.Items[i], modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
				return fmt.Errorf("box %s: %w", boxes.Items[i].Name, err)
			}
		}
		deployments, err := n.deployments.List(n.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range deployments.Items {
			if err := isComplete(&deployments.Items[i]); err != nil {
				return fmt.Errorf("Deployment %s: %w", deployments.Items[i].Name, err)
			}
		}
		if len(boxes.Items) != count || len(deployments.Items) != count {
			return fmt.Errorf("there are %d boxes and %d Deployments", len(boxes.Items), len(deployments.Items))
		}
		return nil
	})
}

// clusterWrites are the writes of workloads in the namespace that the server asked the cluster for. Events tell of
// writes and are none themselves.
func (n *namespace) clusterWrites() []auditv1.Event {
	n.t.Helper()
	var writes []auditv1.Event
	for _, write := range readWrites(n.t, n.plane.clusterAuditLog(), n.name) {
		if write.User.Username == serverUser && write.ObjectRef.Resource != "events" {
			writes = append(writes, write)
		}
	}
	return writes
}

// boxWrites are the writes of boxes in the namespace, those by the controller and those by the test.
func (n *namespace) boxWrites() []auditv1.Event {
	n.t.Helper()
	return readWrites(n.t, n.plane.serverAuditLog(), n.name)
}
