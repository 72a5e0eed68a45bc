// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// What a box is rendered into is a v1 List in every format, for clients that do not know that kind as well.
func TestListsOfOtherKinds(t *testing.T) {
	// An item has its object as well: see the render subresource.
	service := map[string]any{"apiVersion": "v1", "kind": "Service"}
	list := &metav1.List{Items: []runtime.RawExtension{{Raw: []byte(`{"apiVersion":"v1","kind":"Service"}`), Object: &unstructured.Unstructured{Object: service}}}}
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf} {
		t.Run(mediaType, func(t *testing.T) {
			info, ok := runtime.SerializerInfoForMediaType(Codecs.SupportedMediaTypes(), mediaType)
			if !ok {
				t.Fatal("it is not supported")
			}
			data, err := runtime.Encode(Codecs.EncoderForVersion(info.Serializer, modelv1.SchemeGroupVersion), list.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			got := &metav1.List{}
			if _, _, err := info.Serializer.Decode(data, nil, got); err != nil {
				t.Fatal(err)
			}
			want := &metav1.List{TypeMeta: got.TypeMeta, Items: []runtime.RawExtension{{Raw: list.Items[0].Raw}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-encoded +decoded:\n%s\n%q", diff, data)
			}
		})
	}
}
