// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// killsVariable is the environment variable with the number of times that TestKilledServerLosesNothing kills the server.
	killsVariable = "MODELBOX_E2E_KILLS"
	killRounds    = 5
	writers       = 8
	// writesBetweenKills is the minimum number of acknowledged writes before the next kill.
	writesBetweenKills = 200
)

// TestKilledServerLosesNothing kills the server repeatedly while boxes are written. It is not parallel, because all tests share the
// server.
func TestKilledServerLosesNothing(t *testing.T) {
	n := framework.NewNamespace(t)
	settled := settledChildren(n, "settled-1", "settled-2", "settled-3")

	store := n.ControlPlane.AwaitLeader(t, "").Labels["model.github.com/store"]
	rounds := framework.Setting(t, killsVariable, killRounds, strconv.Atoi)

	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(n)
	defer stop()
	for round := 1; round <= rounds; round++ {
		enough := journal.count() + writesBetweenKills + rand.IntN(writesBetweenKills)
		n.Eventually("boxes are being written", func() error {
			if count := journal.count(); count < enough {
				return fmt.Errorf("%d of %d writes were acknowledged", count, enough)
			}
			return nil
		})
		killed := n.ControlPlane.ServerPID(t)
		n.ControlPlane.SignalServer(t, syscall.SIGKILL)
		acknowledged := journal.copy() // no write is acknowledged before the server is back
		n.AwaitServerRestart(killed)
		t.Logf("round %d: killed after %d acknowledged writes of %d boxes", round, journal.count(), len(acknowledged))
		expectStored(n, acknowledged)
		// The situation of the store was always Current.
		found := framework.Scrape(t, n.ControlPlane.DirectClient(t))
		framework.ExpectEqual(t, "starts on a store that is Current", 1.0, framework.Sum(found, "modelbox_store_starts_total", map[string]string{"situation": "Current"}))
		framework.ExpectEqual(t, "recovered boxes", 0.0, framework.Sum(found, "modelbox_store_recovered_boxes_total", nil))
		framework.ExpectEqual(t, "store", store, n.ControlPlane.AwaitLeader(t, "").Labels["model.github.com/store"])
	}
	stop()
	expectStored(n, journal.copy())
	expectUntouched(n, settled)

	// The server still reconciles the boxes.
	n.UpdateBox("settled-1", framework.WithImage(framework.NewImage))
	n.AwaitReady("settled-1")
}

// children are the children of one box.
type children struct {
	deployment *appsv1.Deployment
	service    *corev1.Service
}

// settledChildren creates boxes, waits until they are settled, and returns their children.
func settledChildren(n *framework.Namespace, boxes ...string) []children {
	n.T.Helper()
	for _, box := range boxes {
		n.CreateBox(framework.NewBox(box))
	}
	var settled []children
	for _, box := range boxes {
		n.AwaitReady(box)
		settled = append(settled, children{n.AwaitDeployment(box, "is settled", framework.CheckRolledOut), n.GetService(box)})
	}
	return settled
}

func expectUntouched(n *framework.Namespace, settled []children) {
	n.T.Helper()
	for _, before := range settled {
		name := before.deployment.Name
		deployment, service := n.GetDeployment(name), n.GetService(name)
		framework.ExpectEqual(n.T, name+": generation of the Deployment", before.deployment.Generation, deployment.Generation)
		framework.ExpectEqual(n.T, name+": resourceVersion of the Deployment", before.deployment.ResourceVersion, deployment.ResourceVersion)
		framework.ExpectEqual(n.T, name+": resourceVersion of the Service", before.service.ResourceVersion, service.ResourceVersion)
	}
}

// expectStored checks that every acknowledged write, or a later write of the same box, is stored.
func expectStored(n *framework.Namespace, acknowledged map[string]int) {
	n.T.Helper()
	boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	stored := map[string]int{}
	for _, box := range boxes.Items {
		if revision, err := strconv.Atoi(box.Annotations[revisionAnnotation]); err == nil {
			stored[box.Name] = revision
		}
	}
	for name, revision := range acknowledged {
		if found, exists := stored[name]; !exists || found < revision {
			n.T.Errorf("box %s: revision %d was acknowledged, %d is stored (there is a box: %t)", name, revision, found, exists)
		}
	}
}

const revisionAnnotation = "example.com/revision"

// journal has the last acknowledged revision of each box.
type journal struct {
	mu           sync.Mutex
	acknowledged map[string]int
	writes       int
}

func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writes
}

func (j *journal) copy() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.acknowledged)
}

func (j *journal) acknowledge(name string, revision int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.acknowledged[name] = revision
	j.writes++
}

// startWriters writes boxes until stop is called. Each writer creates a box, changes it a few times, and continues with the next
// box. A failed write is not acknowledged. It may be stored or not, and the writer then continues with the next box.
func (j *journal) startWriters(n *framework.Namespace) (stop func()) {
	ctx, cancel := context.WithCancel(n.Ctx)
	var running sync.WaitGroup
	for writer := range writers {
		running.Go(func() {
			for number := 0; ctx.Err() == nil; number++ {
				j.writeBox(ctx, n, fmt.Sprintf("w%d-%d", writer, number))
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func (j *journal) writeBox(ctx context.Context, n *framework.Namespace, name string) {
	const revisions = 10
	box := framework.NewBox(name, framework.Pause) // a paused box has no children, which would slow down the writes
	for revision := 1; revision <= revisions; revision++ {
		box.Annotations = map[string]string{revisionAnnotation: strconv.Itoa(revision)}
		box.ResourceVersion = "" // the controller writes the status concurrently
		write := func() (*modelv1.ModelBox, error) { return n.Boxes.Update(ctx, box, metav1.UpdateOptions{}) }
		if revision == 1 {
			write = func() (*modelv1.ModelBox, error) { return n.Boxes.Create(ctx, box, metav1.CreateOptions{}) }
		}
		written, err := write()
		if err != nil {
			return
		}
		j.acknowledge(name, revision)
		box = written
	}
}
