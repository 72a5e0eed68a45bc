// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// Three managers change the same child while the box stays as it is. What is recorded in the cluster names each of them.
func TestEveryOpponentIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := webBox(t)
		f := newFixture(t, box)
		defer f.Controller.events.Shutdown()
		defer f.queue.ShutDown()
		ctx, stop := context.WithCancel(t.Context())
		broadcaster := events.NewBroadcaster(&leaderSink{&events.EventSinkImpl{Interface: f.cluster.EventsV1()}})
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			t.Fatal(err)
		}
		defer broadcaster.Shutdown()
		defer stop()
		f.recorder = broadcaster.NewRecorder(scheme.Scheme, "modelbox-apiserver")

		replicas := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
		for i, manager := range []string{"alice", "bob", "carol"} {
			changed := liveDeployment(t, func(d *appsv1.Deployment) { d.ResourceVersion = fmt.Sprint(42 + i) })
			f.restored(box, step{kind: f.kinds[0], live: changed}, map[string]*fieldpath.Set{manager: replicas})
			time.Sleep(time.Second) // events are named after their time
			synctest.Wait()
		}

		recorded, err := f.cluster.EventsV1().Events(box.Namespace).List(t.Context(), metav1.ListOptions{})
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
		check(t, "notes", []string{
			"Restored Deployment web: alice had changed spec.replicas",
			"Restored Deployment web: bob had changed spec.replicas",
			"Restored Deployment web: carol had changed spec.replicas",
		}, notes)
	})
}
