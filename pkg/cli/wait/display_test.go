// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/term"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestProgressOfBox(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 2}, Spec: modelv1.ModelBoxSpec{Replicas: ptr.To[int32](4)}}
	box.Status = modelv1.ModelBoxStatus{ObservedGeneration: 2, ReadyReplicas: 4, AvailableReplicas: 3, UpdatedReplicas: 2}
	box.Status.Conditions = []metav1.Condition{{
		Type: modelv1.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: 2, Reason: "Progressing", Message: "two\nlines",
	}}
	want := []progress{{name: "web", done: 2, total: 4, reason: "Progressing", message: "two lines"}}
	if diff := cmp.Diff(want, progressOf(box), cmp.AllowUnexported(progress{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	box.Generation = 3
	if now := progressOf(box)[0]; now.done != 0 {
		t.Errorf("of a status of an older generation: %+v", now)
	}
}

func TestProgressOfStack(t *testing.T) {
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	stack.Spec.Components = []modelv1.ModelStackComponent{
		{Name: "db", Box: &modelv1.ModelBoxSpec{}},
		{Name: "web", Box: &modelv1.ModelBoxSpec{Replicas: ptr.To[int32](2)}},
		{Name: "mail", External: &modelv1.ModelStackExternal{}},
	}
	stack.Status.Components = []modelv1.ModelStackComponentStatus{
		{Name: "db", State: modelv1.ComponentStalled, Reason: "ImagePullBackOff", Message: "there is none"},
		{Name: "web", State: modelv1.ComponentWaiting, WaitingFor: []string{"db"}},
		{Name: "mail", State: modelv1.ComponentReady},
	}
	want := []progress{
		{name: "shop/db", total: 1, isStalled: true, reason: "ImagePullBackOff", message: "there is none"},
		{name: "shop/web", total: 2, reason: "Waiting", message: "for db"},
		{name: "shop/mail", isReady: true, reason: "Ready"},
	}
	if diff := cmp.Diff(want, progressOf(stack), cmp.AllowUnexported(progress{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

var update = flag.Bool("update", false, "write what is displayed into testdata")

// show shows how a stack and a box come to be.
func show(d *display) {
	d.show("modelstacks/shop", []progress{
		{name: "shop/db", done: 0, total: 1, reason: "Progressing", message: "0 of 1 pods are available"},
		{name: "shop/web", total: 10, reason: "Waiting", message: "for db"},
	})
	box := []progress{{name: "web", done: 1, total: 3, reason: "Progressing", message: "1 out of 3 new replicas have been updated"}}
	d.show("modelboxes/web", box)
	d.show("modelboxes/web", box)
	d.show("modelstacks/shop", []progress{
		{name: "shop/db", done: 1, total: 1, isReady: true, reason: "Ready"},
		{name: "shop/web", total: 10, isStalled: true, reason: "ImagePullBackOff", message: "image nginx:nope: not found"},
	})
}

func TestDisplay(t *testing.T) {
	for name, d := range map[string]*display{
		"log":      {},
		"terminal": {isTerminal: true, colour: true, size: func() *term.TerminalSize { return &term.TerminalSize{Width: 60, Height: 24} }},
		"small":    {isTerminal: true, size: func() *term.TerminalSize { return &term.TerminalSize{Width: 40, Height: 4} }},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d.out, d.block.Out, d.shown = &out, &out, map[string][]progress{}
			show(d)
			// Control characters are written as words, for people to read.
			got := bytes.ReplaceAll(out.Bytes(), []byte("\x1b"), []byte("ESC"))
			got = bytes.ReplaceAll(got, []byte("\r"), []byte("CR"))
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
