// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"testing"
	"time"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
)

func TestEventsTellWhenTheirWriteWasDue(t *testing.T) {
	due := time.Unix(1_700_000_000, 123_456_789)
	patch := struct {
		Metadata struct{ Annotations map[string]string }
	}{}
	if err := json.Unmarshal(sentPatch(due), &patch); err != nil {
		t.Fatal(err)
	}
	for _, api := range []boxes.API{boxes.ModelBox, boxes.CRD} {
		t.Run(api.Name, func(t *testing.T) {
			box := &modelv1.ModelBox{}
			for _, row := range []struct {
				annotations map[string]string
				found       bool
			}{{patch.Metadata.Annotations, true}, {nil, false}} {
				box.Annotations = row.annotations
				event, err := api.Encode(box)
				if err != nil {
					t.Fatal(err)
				}
				got, found := sentAt(event)
				if found != row.found || found && !got.Equal(due) {
					t.Errorf("annotations %v: got %s, %t, want %s, %t", row.annotations, got, found, due, row.found)
				}
			}
		})
	}
}

func TestDeliveriesAreThoseOfEachNamespace(t *testing.T) {
	for _, row := range []struct {
		watchers, writes int
		want             int64
	}{
		{watchedNamespaces, watchedNamespaces, watchedNamespaces},
		{2 * watchedNamespaces, 3 * watchedNamespaces, 6 * watchedNamespaces},
		{1, watchedNamespaces + 1, 2},
		{2, watchedNamespaces + 1, 3},
		{watchedNamespaces, 1, 1},
	} {
		a := &audience{clients: make([]*boxes.Client, row.watchers)}
		if got := a.deliveries(row.writes); got != row.want {
			t.Errorf("%d writes to %d watchers: got %d deliveries, want %d", row.writes, row.watchers, got, row.want)
		}
	}
}
