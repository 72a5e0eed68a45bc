// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// minCalm and maxCalm limit the time between two disruptions.
	minCalm = time.Second
	maxCalm = 3 * time.Second
	// minFrost and maxFrost limit the time for which a server is frozen.
	minFrost = 500 * time.Millisecond
	maxFrost = 2 * requestTimeout
)

// disruption is a way to disrupt what the clients use.
type disruption struct {
	name string
	do   func(*round)
}

// ofTheServer are the disruptions of the only server.
var ofTheServer = []disruption{
	{"killed", func(r *round) { r.end(syscall.SIGKILL) }},
	{"frozen", func(r *round) { r.freeze(r.ControlPlane.ServerPID(r.T)) }},
	{"restarted", func(r *round) { r.end(syscall.SIGTERM) }},
}

// disrupt makes each disruption in turn until ctx is done, and each of them at least once. It counts the disruptions.
func (r *round) disrupt(ctx context.Context) map[string]int {
	counts := map[string]int{}
	for number := 0; number < len(r.disruptions) || ctx.Err() == nil; number++ {
		time.Sleep(r.between(minCalm, maxCalm))
		disruption := r.disruptions[number%len(r.disruptions)]
		disruption.do(r)
		counts[disruption.name]++
	}
	return counts
}

// between returns a random time.
func (r *round) between(least, most time.Duration) time.Duration {
	return least + time.Duration(r.random.Int64N(int64(most-least)))
}

// end stops the server, and waits until it has restarted.
func (r *round) end(signal syscall.Signal) {
	former := r.ControlPlane.ServerPID(r.T)
	r.during(func() {
		r.ControlPlane.SignalServer(r.T, signal)
		r.AwaitServerRestart(former)
	})
}

// fill fills the disk of the server for a while, and waits until the server serves again: etcd may end if it cannot write.
func (r *round) fill(disk *framework.SmallDisk) {
	r.during(func() {
		disk.Fill(r.T)
		time.Sleep(r.between(minFrost, maxFrost))
		disk.Free(r.T)
		r.Eventually("the server writes again", func() error {
			_, err := r.Boxes.Create(r.Ctx, framework.NewBox("written-again"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		})
	})
}

// during records the time of an outage.
func (r *round) during(outage func()) {
	begin := r.recorder.now()
	outage()
	end := r.recorder.now()
	r.recorder.record(func(h *History) { h.Outages = append(h.Outages, Outage{begin, end}) })
}

// freeze freezes processes for a while.
func (r *round) freeze(pids ...int) {
	r.signal(syscall.SIGSTOP, pids)
	time.Sleep(r.between(minFrost, maxFrost))
	r.signal(syscall.SIGCONT, pids)
}

func (r *round) signal(signal syscall.Signal, pids []int) {
	for _, pid := range pids {
		if err := syscall.Kill(pid, signal); err != nil {
			r.T.Fatalf("sending %s: %v", signal, err)
		}
	}
}

// summary returns the numbers of operations, lists and events in a history.
func (h History) summary() string {
	outcomes := map[string]int{}
	for _, operation := range h.Operations {
		outcomes[fmt.Sprintf("%s %s", operation.Request.Verb, operation.Response.Outcome)]++
	}
	var words []string
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		words = append(words, fmt.Sprintf("%d %s", outcomes[outcome], outcome))
	}
	events := 0
	for _, watch := range h.Watches {
		events += len(watch.Events)
	}
	return fmt.Sprintf("%d operations (%s), %d lists, %d watches with %d events, %d of them expired, %d changes",
		len(h.Operations), strings.Join(words, ", "), len(h.Lists), len(h.Watches), events, len(h.Expired), len(h.Changes))
}
