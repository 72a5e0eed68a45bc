// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestSummarize(t *testing.T) {
	for _, row := range []struct {
		name   string
		values []float64
		want   Summary
	}{
		{"nothing", nil, Summary{}},
		{"one round is all there is", []float64{3}, Summary{3, 3, 3, 1}},
		{"the median of an odd number is the one in the middle", []float64{9, 1, 4}, Summary{4, 1, 9, 3}},
		{"the median of an even number is between the two in the middle", []float64{9, 1, 4, 6}, Summary{5, 1, 9, 4}},
		{"one slow round does not move the median of five", []float64{10, 11, 12, 13, 500}, Summary{12, 10, 500, 5}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Summarize(row.values)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// measured has two rounds of two contestants, in the second of which the machine was half as fast.
func measured() *Scenario {
	of := func(contestant string, round int, rate float64) Measurement {
		return Measurement{Case: "get, 1 client", Contestant: contestant, Round: round, Values: map[string]float64{"rate": rate}}
	}
	return &Scenario{Measurements: []Measurement{of("A", 0, 200), of("B", 0, 100), of("B", 1, 50), of("A", 1, 110)}}
}

func TestRatioIsThatOfTheSameRound(t *testing.T) {
	s := measured()
	want := Summary{Median: 2.1, Min: 2, Max: 2.2, Rounds: 2}
	if diff := cmp.Diff(want, s.Ratio("get, 1 client", Comparison{Ours: "A", Peer: "B"}, "rate")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRatioLeavesOutRoundsOfOneContestant(t *testing.T) {
	s := measured()
	s.Measurements = s.Measurements[:3]
	if got := s.Ratio("get, 1 client", Comparison{Ours: "A", Peer: "B"}, "rate"); got.Rounds != 1 || got.Median != 2 {
		t.Errorf("got %+v, want the ratio of the first round", got)
	}
}

func TestVerdicts(t *testing.T) {
	comparison := func(atLeast, atMost *float64) Goal {
		return Goal{Case: "get", Figure: "rate", Ours: "A", Peer: "B", AtLeast: atLeast, AtMost: atMost}
	}
	for _, row := range []struct {
		name string
		goal Goal
		want []bool
	}{
		{"a ratio that is reached", comparison(ptr.To(2.0), nil), []bool{true}},
		{"a ratio that is not", comparison(ptr.To(2.2), nil), []bool{false}},
		{"a ratio that may not be exceeded", comparison(nil, ptr.To(2.0)), []bool{false}},
		{"a figure of ours alone", Goal{Figure: "rate", Ours: "A", AtLeast: ptr.To(155.0)}, []bool{true}},
		{"a case of another name", Goal{Case: "ge", Figure: "rate", Ours: "A", AtLeast: ptr.To(1.0)}, nil},
		{"a figure that was not measured", Goal{Figure: "size", Ours: "A", AtLeast: ptr.To(1.0)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := measured()
			s.Goals = []Goal{row.goal}
			var got []bool
			for _, verdict := range s.Verdicts() {
				got = append(got, verdict.Met)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLatenciesOfAllRoundsAreMerged(t *testing.T) {
	s := &Scenario{}
	for round, microseconds := range []int64{1000, 3000} {
		histogram := NewLatency()
		if err := histogram.RecordValue(microseconds); err != nil {
			t.Fatal(err)
		}
		encoded, err := EncodeLatency(histogram)
		if err != nil {
			t.Fatal(err)
		}
		s.Measurements = append(s.Measurements, Measurement{Case: "get", Contestant: "A", Round: round, Latency: encoded})
	}
	all, err := s.Latency("get", "A")
	if err != nil {
		t.Fatal(err)
	}
	if all.TotalCount() != 2 || !all.ValuesAreEquivalent(all.Min(), 1000) || !all.ValuesAreEquivalent(all.Max(), 3000) {
		t.Errorf("got %d latencies from %d to %d µs", all.TotalCount(), all.Min(), all.Max())
	}
	if none, err := s.Latency("get", "B"); none != nil || err != nil {
		t.Errorf("got %v, %v for a contestant without latencies", none, err)
	}
}
