// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	applyautoscalingv2 "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
)

// TestConvertIsAsJSON: what is converted is what its JSON says, on which the hashes of renders depend.
func TestConvertIsAsJSON(t *testing.T) {
	const rounds = 100
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(kubescheme.Scheme))
	for _, test := range []struct{ api, configuration any }{
		{&corev1.Container{}, &applycorev1.ContainerApplyConfiguration{}},
		{&corev1.Volume{}, &applycorev1.VolumeApplyConfiguration{}},
		{&corev1.PodTemplateSpec{}, &applycorev1.PodTemplateSpecApplyConfiguration{}},
		{&autoscalingv2.MetricSpec{}, &applyautoscalingv2.MetricSpecApplyConfiguration{}},
		{&autoscalingv2.HorizontalPodAutoscalerBehavior{}, &applyautoscalingv2.HorizontalPodAutoscalerBehaviorApplyConfiguration{}},
		{&metav1.LabelSelector{}, &metav1.LabelSelector{}},
	} {
		t.Run(reflect.TypeOf(test.api).Elem().Name(), func(t *testing.T) {
			for range rounds {
				from := newOf(test.api)
				filler.Fill(from)
				got, want := newOf(test.configuration), newOf(test.configuration)
				if err := Convert(from, got); err != nil {
					t.Fatal(err)
				}
				convertByJSON(t, from, want)
				expectSameJSON(t, got, want)

				back, wantBack := newOf(test.api), newOf(test.api)
				if err := Convert(got, back); err != nil {
					t.Fatal(err)
				}
				convertByJSON(t, want, wantBack)
				expectSameJSON(t, back, wantBack)
			}
		})
	}
}

func newOf(example any) any { return reflect.New(reflect.TypeOf(example).Elem()).Interface() }

func convertByJSON(t *testing.T, from, to any) {
	t.Helper()
	if err := json.Unmarshal(encode(t, from), to); err != nil {
		t.Fatal(err)
	}
}

func expectSameJSON(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(string(encode(t, want)), string(encode(t, got))); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

func encode(t *testing.T, object any) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
