// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// BenchmarkNothingToDo finds that a Deployment is what its box renders to, which is what the controller does most of
// the time. The peer is a yardstick: the Deployment to JSON and back.
func BenchmarkNothingToDo(b *testing.B) {
	box := fixture.WebBox(b)
	live := fixture.LiveDeployment(b)
	fixture.SetHash(b, box, live)
	manyEnvs := fixture.WebBox(b, func(box *modelv1.ModelBox) {
		for i := range 100 {
			box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: fmt.Sprintf("OPTION_%d", i), Value: "on"})
		}
	})

	for _, row := range []struct {
		name string
		box  *modelv1.ModelBox
		live *appsv1.Deployment
	}{
		{"Differences", box, fixture.BareDeployment(b, box)},
		{"DifferencesBesideASidecar", box, live},
		{"DifferencesOfManyEnvs", manyEnvs, fixture.BareDeployment(b, manyEnvs)},
	} {
		b.Run(row.name, func(b *testing.B) {
			rendered, compare := fixture.Rendered(b, row.box, "Deployment"), fixture.NewComparer()
			b.ReportAllocs()
			for b.Loop() {
				found, err := compare.Compare(rendered, row.live)
				if err != nil {
					b.Fatal(err)
				}
				if !found.IsEmpty() {
					b.Fatalf("they differ in %v", found)
				}
			}
		})
	}
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
