// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var boxResource = modelv1.SchemeGroupVersion.WithResource("modelboxes")

func TestDynamicClient(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	client, err := dynamic.NewForConfig(framework.SharedControlPlane().Config)
	if err != nil {
		t.Fatal(err)
	}
	boxes := client.Resource(boxResource).Namespace(n.Name)

	patched, err := boxes.Patch(n.Ctx, "web", types.MergePatchType, []byte(`{"spec":{"image":"`+framework.NewImage+`"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := unstructured.NestedString(patched.Object, "spec", "image")
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "image", framework.NewImage, found)
	framework.ExpectEqual(t, "kind", "ModelBox", patched.GetKind())
}

// TestMetadataClient reads boxes as the garbage collector does.
func TestMetadataClient(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	box := n.CreateBox(framework.NewBox("web"))
	client, err := metadata.NewForConfig(framework.SharedControlPlane().Config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(boxResource).Namespace(n.Name).List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].UID != box.UID {
		t.Errorf("want box %s, got %v", box.UID, list.Items)
	}
}

// TestWatchList gets a list as the beginning of a watch, which is how informers begin.
func TestWatchList(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, name := range []string{"a", "b", "c"} {
		n.CreateBox(framework.NewBox(name, framework.Pause))
	}
	w, err := n.Boxes.Watch(n.Ctx, metav1.ListOptions{
		SendInitialEvents:    ptr.To(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	listed := map[string]bool{}
	deadline := time.After(framework.Patience)
	for {
		select {
		case event, open := <-w.ResultChan():
			if !open {
				t.Fatal("the watch ended")
			}
			box, ok := event.Object.(*modelv1.ModelBox)
			if !ok {
				t.Fatalf("event %s with %T", event.Type, event.Object)
			}
			if event.Type != watch.Bookmark {
				listed[box.Name] = true
				continue
			}
			if box.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
				framework.ExpectEqual(t, "boxes before the end of the list", map[string]bool{"a": true, "b": true, "c": true}, listed)
				return
			}
		case <-deadline:
			t.Fatalf("no end of the list after %v", listed)
		}
	}
}
