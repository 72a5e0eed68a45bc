// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func change(path string) modelv1.ModelBoxFieldChange {
	return modelv1.ModelBoxFieldChange{Path: "spec." + path, Before: "1"}
}

var history = &modelv1.ModelBoxHistory{
	ObjectMeta: metav1.ObjectMeta{Name: "web"},
	Revisions: []modelv1.ModelBoxRevision{
		{Revision: 1, Name: "web-a", Generation: 1, Images: []string{"nginx:1", "log:1"}, CreationTimestamp: metav1.Unix(1_700_000_000, 0)},
		{Revision: 3, Name: "web-b", Generation: 4, Images: []string{"nginx:2"}, ChangedBy: "anna", ChangeCause: "two\nlines", Changes: []modelv1.ModelBoxFieldChange{
			{Path: "spec.image", Before: `"nginx:1"`, After: `"nginx:2"`}, change("a"), change("b"), change("c"), change("d"),
		}},
		{Revision: 4, Name: "web-c", Unknown: "the box was not recorded"},
	},
}

func lines(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	return found
}

func TestPrintHistory(t *testing.T) {
	t.Parallel()
	recent := history.DeepCopy()
	for i := range recent.Revisions {
		recent.Revisions[i].CreationTimestamp = metav1.NewTime(time.Now().Add(-49 * time.Hour))
	}
	var out strings.Builder
	if err := printHistory(&out, recent); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"modelbox.model.github.com/web",
		"REVISION AGE IMAGES CHANGED CHANGED-BY CHANGE-CAUSE",
		"1 2d1h nginx:1,log:1 <none> <none> <none>",
		"3 2d1h nginx:2 image, a, b, and 2 more anna two lines",
		"4 2d1h <none> <unknown>: the box was not recorded <none> <none>",
	}
	if diff := cmp.Diff(want, lines(out.String())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPrintRevision(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64][]string{
		1: {"modelbox.model.github.com/web with revision #1", "Name: web-a", "Created: 2023-11-14T22:13:20Z", "Images: nginx:1,log:1", "Changed by: <none>", "Change cause: <none>", "Generation: 1"},
		3: {"modelbox.model.github.com/web with revision #3", "Name: web-b", "Created: 0001-01-01T00:00:00Z", "Images: nginx:2", "Changed by: anna", "Change cause: two lines", "Generation: 4",
			"Changes:", `spec.image: "nginx:1" -> "nginx:2"`, "spec.a: 1 -> <none>", "spec.b: 1 -> <none>", "spec.c: 1 -> <none>", "spec.d: 1 -> <none>"},
		4: {"modelbox.model.github.com/web with revision #4", "Name: web-c", "Created: 0001-01-01T00:00:00Z", "Images: <none>", "Changed by: <none>", "Change cause: <none>", "Spec: <unknown>: the box was not recorded"},
	} {
		var out strings.Builder
		if err := printRevision(&out, history, number); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, lines(out.String())); diff != "" {
			t.Errorf("revision %d, -want +got:\n%s", number, diff)
		}
	}
	if err := printRevision(&strings.Builder{}, history, 2); err == nil || err.Error() != "unable to find the specified revision 2 of web" {
		t.Errorf("a revision that is gone: %v", err)
	}
}

func TestChangedReferencesAreNamed(t *testing.T) {
	t.Parallel()
	const path = "spec.podTemplate.metadata.annotations[model.github.com/references]"
	for _, row := range []struct{ name, before, after, want string }{
		{"a key", `{"of":"a","objects":{"Secret/db":{"password":"1","user":"1"}}}`, `{"of":"a","objects":{"Secret/db":{"password":"2","user":"1"}}}`, "Secret db (password)"},
		{"a deleted object", `{"of":"a","objects":{"ConfigMap/web":{"a":"1"}}}`, `{"of":"a","objects":{"ConfigMap/web":null}}`, "ConfigMap web (deleted)"},
		{"other references without other data", `{"of":"a","objects":{}}`, `{"of":"b","objects":{}}`, "podTemplate.metadata.annotations[model.github.com/references]"},
		{"hashes that the server did not write", "a", "b", "podTemplate.metadata.annotations[model.github.com/references]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			revision := &modelv1.ModelBoxRevision{Changes: []modelv1.ModelBoxFieldChange{{Path: path, Before: strconv.Quote(row.before), After: strconv.Quote(row.after)}}}
			if got := changed(revision); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
