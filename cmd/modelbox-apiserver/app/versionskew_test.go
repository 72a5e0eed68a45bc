// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	apiservertesting "github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/testing"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/versionskew"
)

const (
	specNumber   protowire.Number = 2
	statusNumber protowire.Number = 3
)

// withLaterField adds a field to a part of a stored box, as a later release writes one that its types have.
func withLaterField(t *testing.T, stored []byte, part protowire.Number) string {
	t.Helper()
	envelope := &runtime.Unknown{}
	if err := envelope.Unmarshal(stored[len(protobufPrefix):]); err != nil {
		t.Fatal(err)
	}
	later := protowire.AppendString(protowire.AppendTag(nil, 5000, protowire.BytesType), "later")
	// A part that comes twice is merged.
	envelope.Raw = protowire.AppendBytes(protowire.AppendTag(envelope.Raw, part, protowire.BytesType), later)
	data, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(protobufPrefix) + string(data)
}

func TestServerEndsBeforeItLosesWhatALaterReleaseStored(t *testing.T) {
	outside := startServer(t)
	for _, row := range []struct {
		name   string
		change func(t *testing.T, stored []byte) string
	}{
		{"as protobuf", func(t *testing.T, stored []byte) string { return withLaterField(t, stored, specNumber) }},
		{"as JSON", func(*testing.T, []byte) string {
			return strings.Replace(storedAsJSON, `"replicas":2`, `"replicas":2,"later":true`, 1)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			prefix := "/" + strings.ReplaceAll(row.name, " ", "-")
			key := strings.Replace(keyOf("web"), "/registry", prefix, 1)
			flags := []string{"--etcd-servers=" + strings.Join(outside.EtcdClient.Endpoints(), ","), "--etcd-prefix=" + prefix}
			server := apiservertesting.StartTestServer(t, flags...)
			client, err := versioned.NewForConfig(server.ClientConfig)
			if err != nil {
				t.Fatal(err)
			}
			box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
			if _, err := client.ModelV1().ModelBoxes(metav1.NamespaceDefault).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			response, err := outside.EtcdClient.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			former := decompress(t, response.Kvs[0].Value)
			stored := row.change(t, former)
			if _, err := outside.EtcdClient.Put(t.Context(), key, stored); err != nil {
				t.Fatal(err)
			}

			if err := server.AwaitEnd(t); !errors.Is(err, versionskew.ErrStored) {
				t.Errorf("the server that ran ended with: %v", err)
			}
			if err := apiservertesting.RunTestServer(t, flags...); !errors.Is(err, versionskew.ErrStored) || !strings.Contains(err.Error(), "modelboxes default/web") {
				t.Errorf("the server that was started ended with: %v", err)
			}
			if response, err = outside.EtcdClient.Get(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			if string(response.Kvs[0].Value) != stored {
				t.Errorf("stored is %q", response.Kvs[0].Value)
			}

			if _, err := outside.EtcdClient.Put(t.Context(), key, string(former)); err != nil {
				t.Fatal(err)
			}
			apiservertesting.StartTestServer(t, flags...)
		})
	}
}

func TestStatusOfALaterReleaseIsServed(t *testing.T) {
	server := startServer(t)
	boxes := server.client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	created := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
	if _, err := boxes.Create(t.Context(), created, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.EtcdClient.Put(t.Context(), keyOf("web"), withLaterField(t, server.stored(t, "web"), statusNumber)); err != nil {
		t.Fatal(err)
	}
	box, err := boxes.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	box.Spec.Image = "nginx:2"
	if _, err := boxes.Update(t.Context(), box, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}
