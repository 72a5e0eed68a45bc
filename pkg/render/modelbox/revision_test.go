// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestRecordedBoxOfARevision(t *testing.T) {
	t.Parallel()
	of := func(change func(*modelv1.ModelBox)) *modelv1.ModelBox {
		box := recordedBox(change)
		box.Spec.Name = box.Name
		return box
	}
	nothing := func(*modelv1.ModelBox) {}
	pause := func(box *modelv1.ModelBox) { box.Spec.Paused = true }
	for _, row := range []struct {
		name string
		// rendered is what the pods of the revision are, and recorded what the record says.
		rendered, recorded func(*modelv1.ModelBox)
		annotate           func(map[string]string)
		want               string
	}{
		{"as it was rendered", nothing, nothing, nil, ""},
		{"of a release that rendered it in another way", nothing, nothing, func(a map[string]string) { a[modelv1.RenderHashAnnotation] = "other" }, ""},
		{"paused since", nothing, pause, nil, ""},
		{"changed while it was paused", nothing, func(box *modelv1.ModelBox) { box.Spec.Paused, box.Spec.Image = true, "nginx:1.9.1" }, nil,
			"the box was changed while it was paused"},
		{"invalid and paused", nothing, func(box *modelv1.ModelBox) { box.Spec.Paused, box.Spec.Image = true, "" }, nil,
			"the box was changed while it was paused"},
		{"of another box", nothing, func(box *modelv1.ModelBox) { box.UID = "forged" }, nil, "another box was recorded: shop/web with the UID forged"},
		{"none", nothing, nothing, func(a map[string]string) { delete(a, modelv1.RecordAnnotation) }, "the box was not recorded"},
		{"no record", nothing, nothing, func(a map[string]string) { a[modelv1.RecordAnnotation] = "?" }, "decoding a record: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			annotations := children(t, of(row.rendered))[0].GetAnnotations()
			annotations[modelv1.RecordAnnotation] = children(t, of(row.recorded))[0].GetAnnotations()[modelv1.RecordAnnotation]
			if row.annotate != nil {
				row.annotate(annotations)
			}
			revision := Revision{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
			box, err := revision.RecordedBox(of(nothing), func(box *modelv1.ModelBox) bool { return box.Spec.Image != "" })
			switch {
			case row.want == "" && (err != nil || box.Spec.Image != "nginx:1.7.9"):
				t.Errorf("got %v, %v", box, err)
			case row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), row.want)):
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}
