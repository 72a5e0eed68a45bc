// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// A box takes at most 0.6 times as many bytes in etcd as it would as JSON. Managed fields stay JSON inside the
// protobuf, so what they add is the same in both.
func TestStoredSize(t *testing.T) {
	for _, file := range []string{"modelbox.yaml", "containers.yaml", "probes.yaml"} {
		t.Run(file, func(t *testing.T) {
			box := sample(t, file)
			inJSON, inProtobuf := storedBytes(t, runtime.ContentTypeJSON, box), storedBytes(t, runtime.ContentTypeProtobuf, box)
			ratio := float64(inProtobuf) / float64(inJSON)
			t.Logf("without managed fields: %d bytes as protobuf, %d as JSON: %.2f", inProtobuf, inJSON, ratio)
			if ratio > 0.6 {
				t.Errorf("protobuf takes %.2f times the bytes of JSON", ratio)
			}
		})
	}
}

func sample(t *testing.T, file string) runtime.Object {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "artifacts", "samples", file))
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := Codecs.UniversalDecoder(modelv1.SchemeGroupVersion).Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func storedBytes(t *testing.T, mediaType string, object runtime.Object) int {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("%s is not supported", mediaType)
	}
	data, err := runtime.Encode(Codecs.EncoderForVersion(info.Serializer, modelv1.SchemeGroupVersion), object)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}
