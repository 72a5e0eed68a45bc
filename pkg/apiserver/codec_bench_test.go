// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// BenchmarkCodec takes boxes to the bytes in etcd and back, conversion and defaults included, as protobuf and as JSON.
func BenchmarkCodec(b *testing.B) {
	for _, box := range []struct{ name, file string }{
		{"Sample", "../../artifacts/samples/modelbox.yaml"},
		{"EveryField", "../apis/model/v1/testdata/HEAD/model.github.com.v1.ModelBox.json"},
	} {
		data, err := os.ReadFile(box.file)
		if err != nil {
			b.Fatal(err)
		}
		object, err := runtime.Decode(Codecs.UniversalDecoder(model.SchemeGroupVersion), data)
		if err != nil {
			b.Fatal(err)
		}
		for _, format := range []struct{ name, mediaType string }{
			{"Protobuf", runtime.ContentTypeProtobuf},
			{"JSON", runtime.ContentTypeJSON},
		} {
			info, ok := runtime.SerializerInfoForMediaType(Codecs.SupportedMediaTypes(), format.mediaType)
			if !ok {
				b.Fatalf("%s is not supported", format.mediaType)
			}
			codec := Codecs.CodecForVersions(info.Serializer, info.Serializer, modelv1.SchemeGroupVersion, model.SchemeGroupVersion)
			encoded, err := runtime.Encode(codec, object)
			if err != nil {
				b.Fatal(err)
			}
			b.Run("Encode/"+box.name+"/"+format.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := runtime.Encode(codec, object); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("Decode/"+box.name+"/"+format.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := runtime.Decode(codec, encoded); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
