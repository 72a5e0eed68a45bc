// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

// TestInformersMissNothingAcrossRestarts kills the server repeatedly while boxes are created, changed and deleted. A new server has
// no events from before its start, so that a watch from an earlier version gets 410 Expired. An informer then lists, and still
// reports every change to its handlers. The test is not parallel, because all tests share the server.
func TestInformersMissNothingAcrossRestarts(t *testing.T) {
	n := framework.NewNamespace(t)
	factory := externalversions.NewSharedInformerFactoryWithOptions(n.ControlPlane.ModelClient, 0, externalversions.WithNamespace(n.Name))
	told := &replica{t: t, boxes: map[string]string{}}
	if _, err := factory.Model().V1().ModelBoxes().Informer().AddEventHandler(told); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)

	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(n)
	defer stop()
	stopDeleting := startDeleting(n, journal)
	defer stopDeleting()
	for range killRounds {
		enough := journal.count() + writesBetweenKills
		n.Eventually("boxes are being written", func() error {
			if count := journal.count(); count < enough {
				return fmt.Errorf("%d of %d writes were acknowledged", count, enough)
			}
			return nil
		})
		killed := n.ControlPlane.ServerPID(t)
		n.ControlPlane.SignalServer(t, syscall.SIGKILL)
		n.AwaitServerRestart(killed)
	}
	stopDeleting()
	stop()

	n.Eventually("the informer has told what there is", func() error {
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		stored := map[string]string{}
		for i := range boxes.Items {
			stored[boxes.Items[i].Name] = versionOf(&boxes.Items[i])
		}
		if diff := cmp.Diff(stored, told.copy()); diff != "" {
			return fmt.Errorf("-stored +received:\n%s", diff)
		}
		return nil
	})
	t.Logf("%d writes, %d boxes; the informer reported %d additions, %d updates and %d deletions",
		journal.count(), len(told.copy()), told.added, told.updated, told.deleted)
	if told.added == 0 || told.updated == 0 || told.deleted == 0 {
		t.Error("not every kind of change was seen")
	}
}

// startDeleting deletes every other written box until stop is called.
func startDeleting(n *framework.Namespace, journal *journal) (stop func()) {
	ctx, cancel := context.WithCancel(n.Ctx)
	var running sync.WaitGroup
	running.Go(func() {
		seen := map[string]bool{}
		for ; ctx.Err() == nil; time.Sleep(framework.PollInterval) {
			for name := range journal.copy() {
				if !seen[name] && len(seen)%2 == 0 {
					// The writes of the box may then fail. Its writer continues with the next box.
					_ = n.Boxes.Delete(ctx, name, metav1.DeleteOptions{})
				}
				seen[name] = true
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// replica has the boxes and their versions as the handler of an informer received them.
type replica struct {
	t *testing.T

	mu                      sync.Mutex
	boxes                   map[string]string
	added, updated, deleted int
}

func versionOf(box *modelv1.ModelBox) string { return string(box.UID) + " " + box.ResourceVersion }

// OnAdd receives a box that the replica does not have.
func (r *replica) OnAdd(obj any, _ bool) {
	box := obj.(*modelv1.ModelBox)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, exists := r.boxes[box.Name]; exists {
		r.t.Errorf("box %s is added again: %s, and before %s", box.Name, versionOf(box), known)
	}
	r.boxes[box.Name] = versionOf(box)
	r.added++
}

// OnUpdate receives the old box as the replica has it.
func (r *replica) OnUpdate(oldObj, obj any) {
	old, box := oldObj.(*modelv1.ModelBox), obj.(*modelv1.ModelBox)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.boxes[box.Name] != versionOf(old) {
		r.t.Errorf("box %s is updated from %s, and was %s", box.Name, versionOf(old), r.boxes[box.Name])
	}
	r.boxes[box.Name] = versionOf(box)
	r.updated++
}

// OnDelete receives a box that the replica has.
func (r *replica) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	box := obj.(*modelv1.ModelBox)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, exists := r.boxes[box.Name]; !exists {
		r.t.Errorf("box %s is deleted, and no watch has reported it before", box.Name)
	}
	delete(r.boxes, box.Name)
	r.deleted++
}

func (r *replica) copy() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.boxes)
}
