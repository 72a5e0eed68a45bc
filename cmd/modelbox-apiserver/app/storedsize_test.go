// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

const (
	samples = "../../../artifacts/samples/"
	// everyField is a box with every field set.
	everyField = "../../../pkg/apis/model/v1/testdata/HEAD/model.github.com.v1.ModelBox.json"
)

// A box takes at most 0.6 times as many bytes in etcd as it would as JSON. Managed fields stay JSON inside the
// protobuf, so what they add is the same in both.
func TestStoredBoxIsSmallerThanItsJSON(t *testing.T) {
	server := startServer(t)
	for _, file := range []string{"modelbox.yaml", "containers.yaml", "probes.yaml"} {
		t.Run(file, func(t *testing.T) {
			box := decode(t, read(t, samples+file))
			server.write(t, box)
			bytes := server.stored(t, box.Name)
			stored := decode(t, bytes)
			if len(stored.ManagedFields) != 2 {
				t.Fatalf("%d managers have fields of the box, want a user and the controller", len(stored.ManagedFields))
			}
			if got := len(encode(t, runtime.ContentTypeProtobuf, stored)); got != len(bytes) {
				t.Errorf("encoded again, the box takes %d bytes, stored %d", got, len(bytes))
			}
			compareSizes(t, stored)
		})
	}
	t.Run("every field", func(t *testing.T) { compareSizes(t, decode(t, read(t, everyField))) })
}

// write stores a box as a user and the controller do.
func (s *testServer) write(t *testing.T, box *modelv1.ModelBox) {
	t.Helper()
	boxes := s.client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	created, err := boxes.Create(t.Context(), box, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
	if err != nil {
		t.Fatal(err)
	}
	created.Status = modelv1.ModelBoxStatus{
		ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
		Selector: "modelbox=" + box.Name, Address: box.Name + ".default.svc:80",
		Conditions: []metav1.Condition{{
			Type: modelv1.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 1,
			Reason: "Ready", Message: "2 of 2 replicas are available", LastTransitionTime: metav1.Now(),
		}},
	}
	if _, err := boxes.UpdateStatus(t.Context(), created, metav1.UpdateOptions{FieldManager: "modelbox"}); err != nil {
		t.Fatal(err)
	}
}

func compareSizes(t *testing.T, box *modelv1.ModelBox) {
	t.Helper()
	sizes := func(box *modelv1.ModelBox) (int, int, float64) {
		inProtobuf, inJSON := len(encode(t, runtime.ContentTypeProtobuf, box)), len(encode(t, runtime.ContentTypeJSON, box))
		return inProtobuf, inJSON, float64(inProtobuf) / float64(inJSON)
	}
	inProtobuf, inJSON, ratio := sizes(box)
	t.Logf("with managed fields: %d bytes as protobuf, %d as JSON: %.2f", inProtobuf, inJSON, ratio)
	bare := box.DeepCopy()
	bare.ManagedFields = nil
	inProtobuf, inJSON, ratio = sizes(bare)
	t.Logf("without managed fields: %d bytes as protobuf, %d as JSON: %.2f", inProtobuf, inJSON, ratio)
	if ratio > 0.6 {
		t.Errorf("protobuf takes %.2f times the bytes of JSON", ratio)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(t *testing.T, data []byte) *modelv1.ModelBox {
	t.Helper()
	object, _, err := apiserver.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*modelv1.ModelBox)
}

func encode(t *testing.T, mediaType string, box *modelv1.ModelBox) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(apiserver.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("%s is not supported", mediaType)
	}
	data, err := runtime.Encode(apiserver.Codecs.EncoderForVersion(info.Serializer, modelv1.SchemeGroupVersion), box)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
