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
)

const (
	// minCalm and maxCalm limit the time between two disruptions.
	minCalm = time.Second
	maxCalm = 3 * time.Second
	// minFrost and maxFrost limit the time for which a server is frozen.
	minFrost = 500 * time.Millisecond
	maxFrost = 2 * requestTimeout
)

// disrupt disrupts the server in each way in turn until ctx is done, and in each way at least once. It counts the disruptions.
func (r *round) disrupt(ctx context.Context) map[string]int {
	disruptions := []struct {
		name string
		do   func()
	}{
		{"killed", func() { r.end(syscall.SIGKILL) }},
		{"frozen", r.freeze},
		{"restarted", func() { r.end(syscall.SIGTERM) }},
	}
	counts := map[string]int{}
	for number := 0; number < len(disruptions) || ctx.Err() == nil; number++ {
		time.Sleep(r.between(minCalm, maxCalm))
		disruption := disruptions[number%len(disruptions)]
		disruption.do()
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
	outage := Outage{Begin: r.recorder.now()}
	r.ControlPlane.SignalServer(r.T, signal)
	r.AwaitServerRestart(former)
	outage.End = r.recorder.now()
	r.recorder.record(func(h *History) { h.Outages = append(h.Outages, outage) })
}

// freeze freezes the server for a while.
func (r *round) freeze() {
	pid := r.ControlPlane.ServerPID(r.T)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		r.T.Fatal(err)
	}
	time.Sleep(r.between(minFrost, maxFrost))
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		r.T.Fatal(err)
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
