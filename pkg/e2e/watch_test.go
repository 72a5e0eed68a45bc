// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

func TestInformer(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.create(newBox("before", pause))

	factory := externalversions.NewSharedInformerFactoryWithOptions(plane.boxes, 0, externalversions.WithNamespace(n.name))
	informer := factory.Model().V1().ModelBoxes()
	seen := &sightings{}
	if _, err := informer.Informer().AddEventHandler(seen); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	for resource, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Fatalf("the informer of %v did not sync", resource)
		}
	}
	seen.await(t, "added before "+image)

	n.create(newBox("web", pause))
	seen.await(t, "added web "+image)
	n.change("web", withImage(newImage))
	seen.await(t, "updated web "+newImage)
	box, err := informer.Lister().ModelBoxes(n.name).Get("web")
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "image that the lister has", newImage, box.Spec.Image)
	if err := n.boxes.Delete(n.ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	seen.await(t, "deleted web "+newImage)
	_, err = informer.Lister().ModelBoxes(n.name).Get("web")
	if expectGone(err) != nil {
		t.Errorf("the lister has the deleted box: %v", expectGone(err))
	}
}

// sightings is what an informer has told of.
type sightings struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (s *sightings) OnAdd(obj any, _ bool) { s.add("added", obj) }
func (s *sightings) OnUpdate(_, obj any)   { s.add("updated", obj) }
func (s *sightings) OnDelete(obj any)      { s.add("deleted", obj) }

func (s *sightings) add(what string, obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	box := obj.(*modelv1.ModelBox)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[fmt.Sprintf("%s %s %s", what, box.Name, box.Spec.Image)] = true
}

func (s *sightings) await(t *testing.T, what string) {
	t.Helper()
	eventually(t, patience, "the informer tells: "+what, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.seen[what] {
			return fmt.Errorf("it told %v", s.seen)
		}
		return nil
	})
}

func TestListInPages(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	const count, limit = 7, 3
	var want []string
	for i := range count {
		want = append(want, n.create(newBox(fmt.Sprintf("box-%d", i), pause)).Name)
	}
	var got []string
	var pages []int
	options := metav1.ListOptions{Limit: limit}
	for {
		page, err := n.boxes.List(n.ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, box := range page.Items {
			got = append(got, box.Name)
		}
		pages = append(pages, len(page.Items))
		if len(pages) == 1 {
			// What comes after the first page was listed is not in the list.
			n.create(newBox("box-9", pause))
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	expectEqual(t, "sizes of the pages", []int{3, 3, 1}, pages)
	expectEqual(t, "boxes", want, got)
}
