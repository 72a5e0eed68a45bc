// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

func TestDecideStopsAMoveUnlessItIsTold(t *testing.T) {
	of := func(severity severity, name string) []finding {
		return []finding{{Severity: severity, Namespace: "shop", Name: name}}
	}
	for _, row := range []struct {
		name     string
		found    []finding
		options  moveOptions
		want     string
		wantLeft bool
	}{
		{name: "nothing was found"},
		{name: "changes and notes are no reason", found: append(of(changed, "web"), of(note, "web")...)},
		{name: "a refused box", found: of(refused, "web"), want: "--allow-refused"},
		{name: "a refused box may stay behind", found: of(refused, "web"), options: moveOptions{allowRefused: true}, wantLeft: true},
		{name: "a disruption", found: of(disruptive, "web"), want: "--allow-disruption"},
		{name: "a disruption that is allowed", found: of(disruptive, "web"), options: moveOptions{allowDisruption: true}},
		{name: "the cluster is not ready, whatever is allowed", found: []finding{{Severity: refused}},
			options: moveOptions{allowRefused: true, allowDisruption: true}, want: "the cluster is not ready"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(t, nil)
			m := row.options
			m.left = map[*exportedBox]bool{}
			err := m.decide(&export{Boxes: []*exportedBox{box}}, row.found)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if m.left[box] != row.wantLeft {
				t.Errorf("stays behind: %v", m.left[box])
			}
		})
	}
}

func TestOrphansOfAFormerAttemptAreStillTheBoxes(t *testing.T) {
	current := webBox(t, nil)
	current.children = nil
	for range 2 {
		addOrphans(&export{Boxes: []*exportedBox{webBox(t, nil)}}, &export{Boxes: []*exportedBox{current}})
	}
	if diff := cmp.Diff(webBox(t, nil).children, current.children); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBoxArrivesWithWhatItHad(t *testing.T) {
	box, err := webBox(t, map[string]any{
		"labels": map[string]any{"team": "a"}, "annotations": map[string]any{"note": "b"},
		"finalizers": []any{"example.com/operator"}, "generation": int64(7), "resourceVersion": "12",
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": "uid-of-shop"}},
	}).arriving()
	if err != nil {
		t.Fatal(err)
	}
	want := metav1.ObjectMeta{
		Namespace: "shop", Name: "web",
		Labels:          map[string]string{"team": "a"},
		Annotations:     map[string]string{"note": "b", modelv1.AdoptAnnotation: "true", sourceAnnotation: "uid-of-web"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "shop", UID: "uid-of-shop"}},
	}
	if diff := cmp.Diff(want, box.ObjectMeta); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(modelv1.ModelBoxSpec{Image: "nginx:1"}, box.Spec); diff != "" {
		t.Errorf("spec, which the server defaults (-want +got):\n%s", diff)
	}
}

func TestCreateTakesOnlyItsOwnBoxForDone(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		want   string
	}{
		{"the box of a former attempt", func(*modelv1.ModelBox) {}, ""},
		{"a box of another client", func(box *modelv1.ModelBox) { box.Annotations = nil }, "another box of this name"},
		{"the custom resource itself", func(box *modelv1.ModelBox) { box.UID, box.Annotations = "uid-of-web", nil }, "still serves the custom resource"},
	} {
		t.Run(row.name, func(t *testing.T) {
			exported := webBox(t, nil)
			there, err := exported.arriving()
			if err != nil {
				t.Fatal(err)
			}
			there.UID = "uid-in-server"
			row.change(there)
			m := &moveOptions{options: newOptions(t)}
			m.timeout = 2 * adopt.PollInterval
			m.store(t, there)
			err = m.create(t.Context(), exported, nil)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestAdoptionEndsWithTheAnnotationThatABoxHadBefore(t *testing.T) {
	for _, row := range []struct {
		name     string
		metadata map[string]any
		want     string
	}{
		{"none", nil, ""},
		{"its own", map[string]any{"annotations": map[string]any{modelv1.AdoptAnnotation: "false"}}, "false"},
	} {
		t.Run(row.name, func(t *testing.T) {
			exported := webBox(t, row.metadata)
			box, err := exported.arriving()
			if err != nil {
				t.Fatal(err)
			}
			m := &moveOptions{options: newOptions(t)}
			m.store(t, box)
			if err := m.stopAdopting(t.Context(), exported, box); err != nil {
				t.Fatal(err)
			}
			box, err = m.clients.boxes.ModelV1().ModelBoxes("shop").Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := box.Annotations[modelv1.AdoptAnnotation]; got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestOnlyOneIsAtItAtATime(t *testing.T) {
	o := newOptions(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: serverNamespace}})
	first, second := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- o.exclusively(t.Context(), func(context.Context) error {
			close(first)
			<-second
			return nil
		})
	}()
	<-first
	ctx, cancel := context.WithTimeout(t.Context(), 2*retryPeriod)
	defer cancel()
	err := o.exclusively(ctx, func(context.Context) error { return errors.New("it had its turn") })
	if !errors.Is(err, errLostLease) {
		t.Errorf("the second one got %v, want %v", err, errLostLease)
	}
	close(second)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
