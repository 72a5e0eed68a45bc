// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestAwait(t *testing.T) {
	type events func(watched *watch.FakeWatcher)
	add := func(names ...string) events {
		return func(watched *watch.FakeWatcher) {
			for _, name := range names {
				namespace, name, _ := strings.Cut(name, "/")
				watched.Add(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: strings.TrimSuffix(name, "?")}, Spec: modelv1.ModelBoxSpec{Name: name}})
			}
		}
	}
	isReady := func(box *modelv1.ModelBox) bool { return !strings.HasSuffix(box.Spec.Name, "?") }
	for _, row := range []struct {
		name string
		// events are the events of one watch, and of the watch that begins when it ends.
		events, eventsAgain events
		wantNames           []string
		wantError           string
	}{
		{"all become ready", add("one/a?", "two/a", "one/a", "one/c"), nil, []string{"two/a", "one/a"}, ""},
		{"one that is ready counts once", add("one/a", "one/a"), nil, []string{"one/a"}, "1 of 2"},
		{"one that is not ready does not count", add("one/a", "one/b?"), nil, []string{"one/a"}, "1 of 2"},
		{"one of another namespace does not count", add("one/a", "three/a"), nil, []string{"one/a"}, "1 of 2"},
		{"the watch ends before all are ready", add("one/a"), add("one/a", "one/b"), []string{"one/a", "one/b"}, ""},
		{"the server ends the watch", func(watched *watch.FakeWatcher) {
			watched.Error(&metav1.Status{Message: "too old resource version"})
		}, nil, nil, "too old resource version"},
	} {
		t.Run(row.name, func(t *testing.T) {
			watches := []events{row.events, row.eventsAgain}
			begin := func(context.Context) (watch.Interface, error) {
				if len(watches) == 0 || watches[0] == nil {
					return nil, errors.New("there is no other")
				}
				watched := watch.NewFakeWithChanSize(10, false)
				watches[0](watched)
				watched.Stop()
				watches = watches[1:]
				return watched, nil
			}
			var names []string
			done, err := await(t.Context(), begin,
				[]string{"one", "two"}, 2, isReady, func(key types.NamespacedName) { names = append(names, key.String()) })
			if err != nil {
				t.Fatal(err)
			}
			err = <-done
			if row.wantError == "" && err != nil || row.wantError != "" && (err == nil || !strings.Contains(err.Error(), row.wantError)) {
				t.Errorf("got %v, want %q", err, row.wantError)
			}
			if !slices.Equal(names, row.wantNames) {
				t.Errorf("%v became ready, want %v", names, row.wantNames)
			}
		})
	}
}

func TestAwaitReturnsWhyNothingIsWatched(t *testing.T) {
	refused := errors.New("refused")
	_, err := await(t.Context(), func(context.Context) (watch.Interface, error) { return nil, refused }, nil, 1, isReady, nil)
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
}
