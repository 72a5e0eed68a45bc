// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// boxesVariable is the environment variable with the number of boxes, such as 1000.
	boxesVariable = "MODELBOX_E2E_BOXES"
	silentBoxes   = 40
	// boxWriters is the number of clients that create the boxes.
	boxWriters = 8
)

// TestSettledBoxesCauseNoWrites counts the writes of the server for many boxes: each child is written once. Resyncs and a restart
// of the server then write nothing. It has a separate control plane with a short resync period.
func TestSettledBoxesCauseNoWrites(t *testing.T) {
	t.Parallel()
	plane := framework.NewControlPlane(t, framework.ServerFlags("--modelbox-resync-period=10s")...)
	n, count := plane.NewNamespace(t), framework.Setting(t, boxesVariable, silentBoxes, strconv.Atoi)
	createBoxes(n, count)
	awaitQuiet(n, count)
	expectWrittenOnce(n, count)
	settledChildren, settledBoxes := len(n.Audit.ClusterWrites()), len(n.Audit.BoxWrites())
	t.Logf("%d boxes took %d writes of children and %d of statuses", count, settledChildren, settledBoxes-count)

	awaitReconciles(n, reconcileCount(n)+2*count)
	expectSilence(n, "although nothing happened", settledChildren, settledBoxes)

	terminated := plane.ServerPID(t)
	plane.SignalServer(t, syscall.SIGTERM)
	n.AwaitServerRestart(terminated)
	awaitReconciles(n, count)
	expectSilence(n, "although the server only restarted", settledChildren, settledBoxes)

	n.UpdateBox("box-0", framework.WithImage(framework.NewImage))
	n.AwaitReady("box-0")
	n.AwaitDeployment("box-0", "is settled", framework.CheckRolledOut)
	changed := n.Audit.ClusterWrites()[settledChildren:]
	if len(changed) != 1 || changed[0].Verb != "patch" || changed[0].ObjectRef.Resource != "deployments" {
		t.Errorf("a change of one image took these writes of children: %+v", changed)
	}
	expectUpgradeInSilence(n, count)
}

// expectUpgradeInSilence starts a server with Deployments of a release without records: it writes each Deployment once, without a
// rollout and without an event.
func expectUpgradeInSilence(n *framework.Namespace, count int) {
	n.T.Helper()
	server := n.ControlPlane.ServerPID(n.T)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		n.T.Fatal(err)
	}
	childWrites, boxWrites := len(n.Audit.ClusterWrites()), len(n.Audit.BoxWrites())
	revisions := forgetRecords(n, count)
	n.ControlPlane.SignalServer(n.T, syscall.SIGKILL)
	n.AwaitServerRestart(server)
	for name, revision := range revisions {
		framework.ExpectEqual(n.T, "revision of "+name, revision, awaitRecord(n, name).Annotations[rolloutRevision])
		n.AwaitDeployment(name, "is settled", framework.CheckRolledOut)
	}
	awaitReconciles(n, reconcileCount(n)+2*count)
	framework.ExpectEqual(n.T, "writes of children", count, len(n.Audit.ClusterWrites())-childWrites)
	expectSilence(n, "although only records were missing", childWrites+count, boxWrites)
	for name := range revisions {
		for _, event := range n.Events.About(name) {
			if event.Reason == "RestoredDeployment" {
				n.T.Errorf("box %s: %s", name, event.Note)
			}
		}
	}
}

// expectWrittenOnce checks that each child of each box was applied once, and nothing else.
func expectWrittenOnce(n *framework.Namespace, count int) {
	n.T.Helper()
	written := map[string]int{}
	for _, write := range n.Audit.ClusterWrites() {
		written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
	}
	for i := range count {
		for _, child := range []string{"deployments", "services"} {
			write := fmt.Sprintf("patch %s box-%d", child, i)
			framework.ExpectEqual(n.T, "times of "+write, 1, written[write])
			delete(written, write)
		}
	}
	framework.ExpectEqual(n.T, "other writes of workloads", map[string]int{}, written)
}

// expectSilence checks that nothing was written after these writes.
func expectSilence(n *framework.Namespace, when string, childWrites, boxWrites int) {
	n.T.Helper()
	for _, write := range n.Audit.ClusterWrites()[childWrites:] {
		n.T.Errorf("a write of a child %s: %s %s", when, write.Verb, write.RequestURI)
	}
	for _, write := range n.Audit.BoxWrites()[boxWrites:] {
		n.T.Errorf("a write of a box %s: %s %s", when, write.Verb, write.RequestURI)
	}
}

// reconcileCount returns the number of reconciles of boxes by the current process of the server.
func reconcileCount(n *framework.Namespace) int {
	n.T.Helper()
	return int(framework.Sum(framework.Scrape(n.T, n.ControlPlane.DirectClient(n.T)), "modelbox_controller_reconcile_duration_seconds_count", nil))
}

func awaitReconciles(n *framework.Namespace, count int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("the server has looked at a box %d times", count), func() error {
		if now := reconcileCount(n); now < count {
			return fmt.Errorf("it has %d times", now)
		}
		return nil
	})
}

func createBoxes(n *framework.Namespace, count int) {
	n.T.Helper()
	var running sync.WaitGroup
	for writer := range boxWriters {
		running.Go(func() {
			for i := writer; i < count; i += boxWriters {
				if _, err := n.Boxes.Create(n.Ctx, framework.NewBox(fmt.Sprintf("box-%d", i)), metav1.CreateOptions{}); err != nil {
					n.T.Errorf("creating box %d: %v", i, err)
				}
			}
		})
	}
	running.Wait()
}

// awaitQuiet waits until a number of boxes are Ready and their Deployments are complete. All consequences of their creation have
// happened then.
func awaitQuiet(n *framework.Namespace, count int) {
	n.T.Helper()
	timeout := framework.Patience + time.Duration(count)*100*time.Millisecond
	framework.Eventually(n.T, timeout, fmt.Sprintf("%d boxes are Ready", count), func() error {
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range boxes.Items {
			if err := framework.CheckCondition(&boxes.Items[i], modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
				return fmt.Errorf("box %s: %w", boxes.Items[i].Name, err)
			}
		}
		deployments, err := n.Deployments.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range deployments.Items {
			if err := framework.CheckRolledOut(&deployments.Items[i]); err != nil {
				return fmt.Errorf("Deployment %s: %w", deployments.Items[i].Name, err)
			}
		}
		if len(boxes.Items) != count || len(deployments.Items) != count {
			return fmt.Errorf("there are %d boxes and %d Deployments", len(boxes.Items), len(deployments.Items))
		}
		return nil
	})
}
