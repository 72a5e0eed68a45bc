// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	silentBoxes = 100

	// silenceVariable is how long the silence has to last, such as 10m for a resync of every box.
	silenceVariable = "MODELBOX_E2E_SILENCE"
	silence         = 20 * time.Second
)

// TestSilence counts what the server asks of the cluster for many boxes: each child is written once, and then
// nothing is.
func TestSilence(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	createBoxes(n, silentBoxes)
	n.awaitQuiet(silentBoxes)

	written := map[string]int{}
	for _, write := range n.clusterWrites() {
		written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
	}
	for i := range silentBoxes {
		for _, child := range []string{"deployments", "services"} {
			write := fmt.Sprintf("patch %s box-%d", child, i)
			expectEqual(t, "times of "+write, 1, written[write])
			delete(written, write)
		}
	}
	expectEqual(t, "other writes of workloads", map[string]int{}, written)

	settledChildren, settledBoxes := len(n.clusterWrites()), len(n.boxWrites())
	t.Logf("%d boxes took %d writes of children and %d of statuses", silentBoxes, settledChildren, settledBoxes-silentBoxes)
	time.Sleep(durationOf(t, silenceVariable, silence)) // that nothing happens is the one thing that cannot be waited for
	for _, write := range n.clusterWrites()[settledChildren:] {
		t.Errorf("a write of a child although nothing happened: %s %s", write.Verb, write.RequestURI)
	}
	for _, write := range n.boxWrites()[settledBoxes:] {
		t.Errorf("a write of a box although nothing happened: %s %s", write.Verb, write.RequestURI)
	}
}

func createBoxes(n *namespace, count int) {
	n.t.Helper()
	var running sync.WaitGroup
	for writer := range writers {
		running.Go(func() {
			for i := writer; i < count; i += writers {
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
	n.eventually(fmt.Sprintf("%d boxes are Ready", count), func() error {
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

// durationOf returns what the variable of the environment says, the usual where it says nothing.
func durationOf(t *testing.T, variable string, usual time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return length
}
