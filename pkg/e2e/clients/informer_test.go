// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

func TestInformerSeesEveryChange(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("before", framework.Pause))

	factory := externalversions.NewSharedInformerFactoryWithOptions(n.ControlPlane.ModelClient, 0, externalversions.WithNamespace(n.Name))
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
	seen.await(t, "added before "+framework.Image)

	n.CreateBox(framework.NewBox("web", framework.Pause))
	seen.await(t, "added web "+framework.Image)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	seen.await(t, "updated web "+framework.NewImage)
	box, err := informer.Lister().ModelBoxes(n.Name).Get("web")
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "image that the lister has", framework.NewImage, box.Spec.Image)
	if err := n.Boxes.Delete(n.Ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	seen.await(t, "deleted web "+framework.NewImage)
	_, err = informer.Lister().ModelBoxes(n.Name).Get("web")
	if framework.CheckGone(err) != nil {
		t.Errorf("the lister has the deleted box: %v", framework.CheckGone(err))
	}
}

// sightings has the events of an informer.
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
	framework.Eventually(t, framework.Patience, "the informer tells: "+what, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.seen[what] {
			return fmt.Errorf("the informer reported %v", s.seen)
		}
		return nil
	})
}
