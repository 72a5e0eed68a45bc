// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// restartAny kills one of the servers and starts another.
func (w *world) restartAny(ctx context.Context) error {
	return w.restart(ctx, w.random.IntN(len(w.servers)))
}

// restart kills the server and starts another in its place.
func (w *world) restart(ctx context.Context, i int) error {
	w.note("fault: %s is killed", w.servers[i].client.Name())
	w.stats.Restarts++
	if err := w.servers[i].kill(); err != nil {
		return fmt.Errorf("%s: %w", w.servers[i].client.Name(), err)
	}
	var err error
	w.servers[i], err = w.newServer(ctx)
	return err
}

// replaceStopped starts a server in place of each one that has stopped itself.
func (w *world) replaceStopped(ctx context.Context) error {
	for i, server := range w.servers {
		select {
		case <-server.done:
			if err := w.restart(ctx, i); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

// endOfOutage returns a time in up to ten minutes.
func (w *world) endOfOutage() time.Time {
	return time.Now().Add(time.Duration(w.random.IntN(600)) * time.Second)
}

// cutOff cuts a server off from the API servers, for up to ten minutes.
func (w *world) cutOff(context.Context) error {
	server := w.servers[w.random.IntN(len(w.servers))]
	server.cutOffUntil = w.endOfOutage()
	w.note("fault: %s is cut off until %s", server.client.Name(), server.cutOffUntil.UTC().Format(time.TimeOnly))
	w.stats.Faults++
	return nil
}

// breakWatch breaks the connection of a watch of a server. After a compaction, the server lists again. The watches of Kubernetes do not
// break: after another list, its garbage collector does not notice that an object was replaced by an object of the same name.
func (w *world) breakWatch(context.Context) error {
	watches := slices.DeleteFunc(w.watches(), func(watch *store.Watch) bool { return !strings.HasPrefix(watch.Client(), serverPrefix) })
	if len(watches) > 0 {
		watch := watches[w.random.IntN(len(watches))]
		w.note("fault: watch %d breaks", watch.ID())
		w.stats.Faults++
		watch.Stop()
	}
	return nil
}

// compact forgets all changes, so that clients whose watches break list again.
func (w *world) compact(context.Context) error {
	w.note("fault: compaction")
	w.stats.Faults++
	w.kubernetes.Compact()
	w.modelBox.Compact()
	return nil
}

// jump lets time pass while nothing is handled or delivered.
func (w *world) jump(context.Context) error {
	pause := time.Duration(w.random.Int64N(int64(longestJump)))
	w.note("fault: nothing happens for %s", pause)
	w.stats.Faults++
	time.Sleep(pause)
	return nil
}

// failNode makes a node fail for up to ten minutes.
func (w *world) failNode(context.Context) error {
	node := w.nodes.Names[w.random.IntN(len(w.nodes.Names))]
	until := w.endOfOutage()
	w.note("fault: %s fails until %s", node, until.UTC().Format(time.TimeOnly))
	w.stats.Faults++
	w.nodes.Fail(node, until)
	for _, box := range w.checks.boxes() {
		w.checks.waiveCapacity(box.Name)
	}
	return nil
}

// exceedQuota makes Kubernetes reject all new pods for up to ten minutes.
func (w *world) exceedQuota(context.Context) error {
	until := w.endOfOutage()
	w.note("fault: the quota is exceeded until %s", until.UTC().Format(time.TimeOnly))
	w.stats.Faults++
	w.quota.Exceed(until)
	for _, box := range w.checks.boxes() {
		// A StatefulSet and a DaemonSet delete a pod before they create its successor.
		if box.Spec.Workload != model.Workload(modelv1.WorkloadDeployment) {
			w.checks.waiveCapacity(box.Name)
		}
	}
	return nil
}
