// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	apiservertesting "github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/testing"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

// warnings are those that a server sends.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

// boxesOf returns a client of the boxes in the default namespace, and the warnings that it is sent.
func boxesOf(t *testing.T, server *apiservertesting.TestServer) (modelclient.ModelBoxInterface, *warnings) {
	t.Helper()
	config, sent := rest.CopyConfig(server.ClientConfig), &warnings{}
	config.WarningHandler = sent
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.ModelV1().ModelBoxes(metav1.NamespaceDefault), sent
}

func newNginx(name string) *modelv1.ModelBox {
	return &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
}

// expectCorrupt looks at a server that can read the box mail and not the box web.
func expectCorrupt(t *testing.T, boxes modelclient.ModelBoxInterface, sent *warnings) {
	t.Helper()
	for _, resourceVersion := range []string{"", "0"} {
		list, err := boxes.List(t.Context(), metav1.ListOptions{ResourceVersion: resourceVersion})
		if err != nil {
			t.Fatalf("listing at %q: %v", resourceVersion, err)
		}
		if len(list.Items) != 1 || list.Items[0].Name != "mail" {
			t.Errorf("the list at %q has %d boxes, want only mail", resourceVersion, len(list.Items))
		}
		if _, err := boxes.Get(t.Context(), "web", metav1.GetOptions{ResourceVersion: resourceVersion}); err == nil || apierrors.IsNotFound(err) {
			t.Errorf("the box that cannot be read at %q: got %v, want an error that is not NotFound", resourceVersion, err)
		}
		if _, err := boxes.Get(t.Context(), "mail", metav1.GetOptions{ResourceVersion: resourceVersion}); err != nil {
			t.Errorf("the other box at %q: %v", resourceVersion, err)
		}
	}
	if want := "1 stored modelboxes cannot be read and are left out: default/web"; !strings.Contains(sent.String(), want) {
		t.Errorf("no warning says %q: %s", want, sent)
	}
	if _, err := boxes.Create(t.Context(), newNginx("web"), metav1.CreateOptions{}); err == nil {
		t.Error("another box takes the name of the one that cannot be read")
	}
	if err := boxes.Delete(t.Context(), "web", metav1.DeleteOptions{}); err == nil {
		t.Error("the box that cannot be read is deleted like any other")
	}
}

func TestCorruptObjectHarmsItselfOnly(t *testing.T) {
	outside := startServer(t)
	for _, row := range []struct {
		name   string
		stored func(t *testing.T, web, mail []byte) string
	}{
		{"what is no object", func(*testing.T, []byte, []byte) string { return "no object" }},
		{"nothing", func(*testing.T, []byte, []byte) string { return "" }},
		{"half of the object", func(_ *testing.T, web, _ []byte) string { return string(web[:len(web)/2]) }},
		{"an object of another name", func(_ *testing.T, _, mail []byte) string { return string(mail) }},
		{"JSON of another name", func(*testing.T, []byte, []byte) string {
			return `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"mail","namespace":"default"}}`
		}},
		{"an object of another kind", func(_ *testing.T, web, _ []byte) string {
			return strings.Replace(string(web), "ModelBox", "Networks", 1)
		}},
		{"a frame that does not decompress", func(*testing.T, []byte, []byte) string { return "modelbox:zstd:v1:?" }},
		{"more than is decompressed, as an earlier release stored it", func(t *testing.T, web, _ []byte) string {
			encoder, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return string(encoder.EncodeAll(append(web, make([]byte, 24*2_900_000)...), []byte(compression.Prefix)))
		}},
		{"what only this server makes of values", func(*testing.T, []byte, []byte) string { return "modelbox:stored:\xff\xff\xff\xff" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			prefix := "/" + strings.NewReplacer(" ", "-", ",", "").Replace(row.name)
			key := func(name string) string { return strings.Replace(keyOf(name), "/registry", prefix, 1) }
			stored := func(name string) []byte {
				response, err := outside.EtcdClient.Get(t.Context(), key(name))
				if err != nil {
					t.Fatal(err)
				}
				return decompress(t, response.Kvs[0].Value)
			}
			flags := []string{"--etcd-servers=" + strings.Join(outside.EtcdClient.Endpoints(), ","), "--etcd-prefix=" + prefix}
			t.Run("while the server runs", func(t *testing.T) {
				boxes, sent := boxesOf(t, apiservertesting.StartTestServer(t, flags...))
				for _, name := range []string{"web", "mail"} {
					if _, err := boxes.Create(t.Context(), newNginx(name), metav1.CreateOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				list, err := boxes.List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				watcher, err := boxes.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
				if err != nil {
					t.Fatal(err)
				}
				defer watcher.Stop()
				if _, err := outside.EtcdClient.Put(t.Context(), key("web"), row.stored(t, stored("web"), stored("mail"))); err != nil {
					t.Fatal(err)
				}
				if event := <-watcher.ResultChan(); event.Type != watch.Deleted || event.Object.(*modelv1.ModelBox).Name != "web" {
					t.Errorf("the watch has %s of %v, want that web is deleted", event.Type, event.Object)
				}
				expectCorrupt(t, boxes, sent)
				// The watch continues.
				if _, err := boxes.Create(t.Context(), newNginx("other"), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				if event := <-watcher.ResultChan(); event.Type != watch.Added || event.Object.(*modelv1.ModelBox).Name != "other" {
					t.Errorf("the watch has %s of %v, want that other is added", event.Type, event.Object)
				}
				if err := boxes.Delete(t.Context(), "other", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			})
			t.Run("when the server starts", func(t *testing.T) {
				boxes, sent := boxesOf(t, apiservertesting.StartTestServer(t, flags...))
				expectCorrupt(t, boxes, sent)
				if err := boxes.Delete(t.Context(), "web", metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: ptr.To(true)}); err != nil {
					t.Fatal(err)
				}
				if _, err := boxes.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Errorf("after the deletion: %v", err)
				}
				if _, err := boxes.Create(t.Context(), newNginx("web"), metav1.CreateOptions{}); err != nil {
					t.Errorf("creating the box again: %v", err)
				}
			})
		})
	}
}
