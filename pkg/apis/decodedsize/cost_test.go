// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package decodedsize

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// mostCost is how much the decoders may allocate, in quarters of the estimate.
	mostCost = 5
	// specBytes is how large the spec of a box may be.
	specBytes = 96 << 10
	// shortSample is of how many boxes a short test takes one.
	shortSample = 20
)

// TestCost compares what boxes that are made to cost much are estimated to take with what the decoders allocate.
func TestCost(t *testing.T) {
	count, highest := 0, int64(0)
	for hostile := range fuzzer.HostileBoxes(specBytes) {
		if count++; testing.Short() && count%shortSample != 0 {
			continue
		}
		box := &modelv1.ModelBox{Spec: hostile.Spec}
		encoded, err := box.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		estimated, err := OfProtobuf(encoded, boxType, limit)
		if err != nil {
			continue // it has more elements than any box
		}
		highest = max(highest, estimated)
		if cost := allocated(func() { err = (&modelv1.ModelBox{}).Unmarshal(encoded) }); err != nil || cost > mostCost*estimated/4 {
			t.Errorf("%s: decoding protobuf costs %d bytes, estimated are %d: %v", hostile.Name, cost, estimated, err)
		}
		if encoded, err = json.Marshal(box); err != nil {
			continue // JSON has no such value
		}
		if estimated, err = OfJSON(encoded, boxType, limit); err != nil {
			t.Errorf("%s: as JSON: %v", hostile.Name, err)
		}
		if cost := allocated(func() { err = json.Unmarshal(encoded, &modelv1.ModelBox{}) }); err != nil || cost > mostCost*estimated/4 {
			t.Errorf("%s: decoding JSON costs %d bytes, estimated are %d: %v", hostile.Name, cost, estimated, err)
		}
		if cost := allocated(func() { err = json.Unmarshal(encoded, &map[string]any{}) }); err != nil || cost > 2*mostCost*estimated/4 {
			t.Errorf("%s: decoding a patch costs %d bytes, estimated are %d: %v", hostile.Name, cost, estimated, err)
		}
	}
	t.Logf("the most of %d boxes is %d bytes", count, highest)
}

// allocated returns the bytes that are allocated meanwhile, freed or not.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
