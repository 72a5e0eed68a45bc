// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// BenchmarkNothingToDo finds that a Deployment is what its box renders to, which is what the controller does most of
// the time. The peer is a yardstick: the Deployment to JSON and back.
func BenchmarkNothingToDo(b *testing.B) {
	box := webBox(b)
	rendered, live := renderedKind(b, box, "Deployment"), liveDeployment(b)
	setHash(b, box, live)

	b.Run("Differences", func(b *testing.B) {
		compare := newComparer()
		b.ReportAllocs()
		for b.Loop() {
			found, err := compare.differences(rendered, live)
			if err != nil {
				b.Fatal(err)
			}
			if !found.Empty() {
				b.Fatalf("they differ in %v", found)
			}
		}
	})
	b.Run("JSONRoundTrip", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := json.Marshal(live)
			if err != nil {
				b.Fatal(err)
			}
			if err := json.Unmarshal(data, &appsv1.Deployment{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
