// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import "testing"

func TestReplicasOfAStep(t *testing.T) {
	tests := []struct {
		name                        string
		weight, replicas, available int32
		// The pods of the new revision with a route and without, and the stable pods without.
		routed, canary, stable int32
	}{
		{name: "a share that the pods can have", weight: 25, replicas: 4, available: 1, routed: 1, canary: 1, stable: 3},
		{name: "stable pods stay until the new pods are available", weight: 50, replicas: 4, available: 1, routed: 2, canary: 2, stable: 3},
		{name: "a small share has a pod", weight: 1, replicas: 4, available: 1, routed: 1, canary: 1, stable: 3},
		{name: "a share is rounded to the nearest number of pods", weight: 40, replicas: 4, available: 2, routed: 2, canary: 2, stable: 2},
		{name: "pods behind a route are enough for their share", weight: 30, replicas: 4, available: 1, routed: 2, canary: 1, stable: 3},
		{name: "a large share leaves a stable pod", weight: 99, replicas: 4, available: 4, routed: 4, canary: 3, stable: 1},
		{name: "the only pod stays beside its candidate", weight: 10, replicas: 1, available: 1, routed: 1, canary: 1, stable: 1},
		{name: "all of the traffic is for all pods", weight: 100, replicas: 4, available: 4, routed: 4, canary: 4, stable: 0},
		{name: "a stopped box has no pods of the new revision", weight: 100, replicas: 0, available: 0, routed: 0, canary: 0, stable: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := CanaryReplicas(tt.weight, tt.replicas, true); got != tt.routed {
				t.Errorf("%d pods of the new revision with a route, want %d", got, tt.routed)
			}
			if got := CanaryReplicas(tt.weight, tt.replicas, false); got != tt.canary {
				t.Errorf("%d pods of the new revision without a route, want %d", got, tt.canary)
			}
			if got := StableReplicas(tt.weight, tt.replicas, tt.available); got != tt.stable {
				t.Errorf("%d stable pods, want %d", got, tt.stable)
			}
		})
	}
}

func TestSharePercent(t *testing.T) {
	for _, tt := range []struct{ part, whole, want int32 }{{1, 4, 25}, {1, 3, 33}, {2, 3, 67}, {0, 4, 0}, {0, 0, 0}, {4, 4, 100}} {
		if got := SharePercent(tt.part, tt.whole); got != tt.want {
			t.Errorf("SharePercent(%d, %d) = %d, want %d", tt.part, tt.whole, got, tt.want)
		}
	}
}
