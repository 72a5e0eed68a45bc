// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import "testing"

func TestRequestsSince(t *testing.T) {
	before := requestCount{"kube": {started: 10, writes: 100, reads: 50}, "ours": {started: 20, writes: 7, reads: 8}}
	for _, row := range []struct {
		name          string
		after         requestCount
		writes, reads float64
	}{
		{"nothing has happened", before, 0, 0},
		{"both have served some", requestCount{"kube": {started: 10, writes: 103, reads: 50}, "ours": {started: 20, writes: 8, reads: 10}}, 4, 2},
		{"one was restarted", requestCount{"kube": {started: 10, writes: 100, reads: 51}, "ours": {started: 30, writes: 2, reads: 3}}, 2, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			if writes, reads := row.after.since(before); writes != row.writes || reads != row.reads {
				t.Errorf("got %v writes and %v reads, want %v and %v", writes, reads, row.writes, row.reads)
			}
		})
	}
}
