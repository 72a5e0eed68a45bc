// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestBoxHasTheSizeOfUsualOnes(t *testing.T) {
	encoded, err := CRD.Encode(New("shop", "web"))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(encoded); size < 1200 || size > 1800 {
		t.Errorf("a box has %d bytes as JSON, want some 1.5 KB", size)
	}
}

func TestEachAPIEncodesBoxesAsItsOwn(t *testing.T) {
	for _, row := range []struct {
		api    API
		prefix string
	}{
		{ModelBox, "k8s\x00"},
		{ModelBoxJSON, `{"kind":"ModelBox","apiVersion":"model.github.com/v1"`},
		{CRD, `{"kind":"ModelBox","apiVersion":"crd.bench.model.github.com/v1"`},
	} {
		t.Run(row.api.Name, func(t *testing.T) {
			box := New("shop", "web")
			encoded, err := row.api.Encode(box)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(encoded, []byte(row.prefix)) {
				t.Errorf("it begins with %q, want %q", encoded[:min(len(encoded), 80)], row.prefix)
			}
			decoded, kind, err := serializer.NewCodecFactory(row.api.scheme()).UniversalDeserializer().Decode(encoded, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if *kind != row.api.Kind() {
				t.Errorf("it is decoded as %s, want %s", kind, row.api.Kind())
			}
			want := box.DeepCopy()
			decoded.(*modelv1.ModelBox).TypeMeta = want.TypeMeta
			if diff := cmp.Diff(runtime.Object(want), decoded); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
