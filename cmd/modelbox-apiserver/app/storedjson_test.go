// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// storedAsJSON is what an early build has left in etcd.
const storedAsJSON = `{"kind":"ModelBox","apiVersion":"model.github.com/v1","metadata":{"name":"web","namespace":"default",` +
	`"uid":"4ec5d55a-0000-4000-8000-000000000000","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"team":"shop"}},` +
	`"spec":{"name":"web","image":"nginx:1.7.9","replicas":2,"rollingUpdate":"25%","minReadySeconds":3,` +
	`"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"resourceType":"custom","defaultProbes":"Enabled"},` +
	`"status":{"observedGeneration":2,"replicas":2,"conditions":[{"type":"Ready","status":"True","observedGeneration":2,` +
	`"lastTransitionTime":"2026-01-01T00:00:05Z","reason":"Ready","message":"2 of 2 replicas are available"}]}}` + "\n"

// protobufPrefix is what protobuf in etcd begins with.
var protobufPrefix = []byte("k8s\x00")

// A box that is stored as JSON is served as any other, and becomes protobuf with its next write, even one that changes
// nothing.
func TestBoxStoredAsJSONBecomesProtobufWithItsNextWrite(t *testing.T) {
	server := startServer(t)
	boxes := server.client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
	}{
		{"changes the image", func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" }},
		{"changes nothing", func(*modelv1.ModelBox) {}},
	} {
		t.Run("the next write "+row.name, func(t *testing.T) {
			if _, err := server.EtcdClient.Put(t.Context(), keyOf("web"), storedAsJSON); err != nil {
				t.Fatal(err)
			}

			box, err := boxes.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if box.UID != "4ec5d55a-0000-4000-8000-000000000000" || box.Spec.Image != "nginx:1.7.9" || *box.Spec.Replicas != 2 ||
				box.Spec.Ports[0].TargetPort.IntValue() != 80 || box.Status.Conditions[0].Reason != "Ready" {
				t.Errorf("got %+v", box)
			}
			if got := server.stored(t, "web"); string(got) != storedAsJSON {
				t.Errorf("reading has written %q", got)
			}

			row.change(box)
			changesPods := box.Spec.Image != "nginx:1.7.9"
			updated, err := boxes.Update(t.Context(), box, metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := server.stored(t, "web"); !bytes.HasPrefix(got, protobufPrefix) {
				t.Errorf("stored is %q", got)
			}
			read, err := boxes.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(updated, read); diff != "" {
				t.Errorf("-answered +read:\n%s", diff)
			}
			if changesPods {
				metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.ChangedByAnnotation, "admin")
			}
			if diff := cmp.Diff(box, read, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "Generation", "ManagedFields")); diff != "" {
				t.Errorf("-sent +read:\n%s", diff)
			}
		})
	}
}
