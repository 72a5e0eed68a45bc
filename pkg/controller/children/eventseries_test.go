// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Three managers change the same child while the owner stays as it is. The events in the cluster name each of them.
func TestEventsNameEachManagerThatChangesAChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := newSettings()
		f := newTestEngine(t, settings)
		ctx, stop := context.WithCancel(t.Context())
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: f.cluster.EventsV1()})
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			t.Fatal(err)
		}
		defer broadcaster.Shutdown()
		defer stop()
		f.Recorder = broadcaster.NewRecorder(scheme.Scheme, render.EventReporter)

		value := fieldpath.NewSet(fieldpath.MakePathOrDie("data", "value"))
		for i, manager := range []string{"alice", "bob", "carol"} {
			changed := foreignSecret()
			changed.ResourceVersion = fmt.Sprint(42 + i)
			f.noteRestored(settings, apply.Step{Kind: &f.Kinds[0].Kind, Live: changed}, map[string]*fieldpath.Set{manager: value})
			time.Sleep(time.Second) // events are named after their time
			synctest.Wait()
		}

		recorded, err := f.cluster.EventsV1().Events(settings.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, event := range recorded.Items {
			notes = append(notes, event.Note)
			if event.Series != nil {
				t.Errorf("%q is one of a series of %d", event.Note, event.Series.Count)
			}
		}
		slices.Sort(notes)
		fixture.Check(t, "notes", []string{
			"Restored Secret settings-token: alice had changed data.value",
			"Restored Secret settings-token: bob had changed data.value",
			"Restored Secret settings-token: carol had changed data.value",
		}, notes)
	})
}
