// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// The storage data is retained, or it is not, or the box has none.
func TestUpdateKeepsWhatStorageIsNotReleased(t *testing.T) {
	const none = "none"
	storage := func(retain string) []model.ModelBoxStorage {
		if retain == none {
			return nil
		}
		return []model.ModelBoxStorage{{Name: "data", Retain: ptr.To(retain == "retained")}}
	}
	for _, row := range []struct {
		name        string
		old, update string
		unreleased  []string
		want        []string
	}{
		{name: "it is retained from now on", old: "discarded", update: "retained", want: []string{"data"}},
		{name: "it stays retained", old: "retained", update: "retained"},
		{name: "it stays retained, which the controller has not seen", old: "retained", update: "retained", unreleased: []string{"data"}, want: []string{"data"}},
		{name: "it is taken out before the controller has seen that it is retained", old: "retained", update: none, unreleased: []string{"data"}, want: []string{"data"}},
		{name: "it is taken out when it is released", old: "retained", update: none},
		{name: "it stays out", old: none, update: none, unreleased: []string{"data"}, want: []string{"data"}},
		{name: "it is no longer retained", old: "retained", update: "discarded", unreleased: []string{"data"}},
		{name: "it comes back and is not retained", old: none, update: "discarded", unreleased: []string{"data"}},
		{name: "it comes back and is retained", old: none, update: "retained", want: []string{"data"}},
		{name: "it is taken out and not retained", old: "discarded", update: none},
		{name: "other storage is not released", old: "discarded", update: "retained", unreleased: []string{"logs"}, want: []string{"data", "logs"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box, old := webBox(), webBox()
			box.Spec.Storage, old.Spec.Storage = storage(row.update), storage(row.old)
			old.Status.UnreleasedStorage = row.unreleased
			newStrategy().PrepareForUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, box.Status.UnreleasedStorage); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
