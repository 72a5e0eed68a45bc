// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// protobuf returns the stored encoding of an object, with more bytes at its end.
func protobuf(t *testing.T, namespace, name string, more ...byte) string {
	t.Helper()
	return protobufOfType(t, runtime.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"}, namespace, name, more...)
}

func protobufOfType(t *testing.T, typeMeta runtime.TypeMeta, namespace, name string, more ...byte) string {
	t.Helper()
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "1"}}
	raw, err := box.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, typeMeta, append(raw, more...))
}

// stored returns the stored encoding of an object in protobuf.
func stored(t *testing.T, typeMeta runtime.TypeMeta, raw []byte) string {
	t.Helper()
	envelope, err := (&runtime.Unknown{TypeMeta: typeMeta, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(protobufPrefix) + string(envelope)
}

func TestVerifyIdentity(t *testing.T) {
	renamed := protowire.AppendBytes(protowire.AppendTag(nil, metadataNumber, protowire.BytesType),
		protowire.AppendString(protowire.AppendTag(nil, nameNumber, protowire.BytesType), "mail"))
	for _, row := range []struct {
		name, key, stored string
		// err is a part of the error, empty for none.
		err string
	}{
		{"protobuf", "/registry/boxes/shop/web", protobuf(t, "shop", "web"), ""},
		{"JSON", "/registry/boxes/shop/web", `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"namespace":"shop","name":"web"}}`, ""},
		{"another name", "/registry/boxes/shop/web", protobuf(t, "shop", "mail"), `metadata has name "mail"`},
		{"another namespace", "/registry/boxes/shop/web", protobuf(t, "bank", "web"), `namespace "bank"`},
		{"a second name", "/registry/boxes/shop/web", protobuf(t, "shop", "web", renamed...), `metadata has name "mail"`},
		{"another name in JSON", "/registry/boxes/shop/web", `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"namespace":"shop","name":"mail"}}`, `metadata has name "mail"`},
		{"no kind", "/registry/boxes/shop/web", protobufOfType(t, runtime.TypeMeta{APIVersion: "model.github.com/v1"}, "shop", "web"), "must have an apiVersion and a kind"},
		{"no apiVersion", "/registry/boxes/shop/web", protobufOfType(t, runtime.TypeMeta{Kind: "ModelBox"}, "shop", "web"), "must have an apiVersion and a kind"},
		{"no type in JSON", "/registry/boxes/shop/web", `{"metadata":{"namespace":"shop","name":"web"}}`, "must have an apiVersion and a kind"},
		{"truncated JSON", "/registry/boxes/shop/web", `{"metadata":`, "decoding the metadata"},
		{"truncated protobuf", "/registry/boxes/shop/web", protobuf(t, "shop", "web")[:20], "metadata has name"},
		{"a name that is invalid in a path", "/registry/boxes/shop/a%b", protobuf(t, "shop", "a%b"), "may not contain '%'"},
		{"nothing", "/registry/boxes/shop/web", "", "the encoding is not"},
		{"YAML", "/registry/boxes/shop/web", "metadata: {namespace: shop, name: web}", "the encoding is not"},
		{"an envelope", "/registry/boxes/shop/web", string(envelopePrefix) + "\xff", "the encoding is not"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := verifyIdentity([]byte(row.stored), []byte(row.key))
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("got %v, want %q", err, row.err)
			}
		})
	}
}

func TestEnvelopesAreOpened(t *testing.T) {
	for _, row := range []struct{ name, key, reason, data string }{
		{"an object", "/registry/boxes/shop/web", "", "k8s\x00object"},
		{"an object without data", "/registry/boxes/shop/web", "", ""},
		{"a reason", "/registry/boxes/shop/web", strings.Repeat("because ", 100), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			key, reason, data, isEnvelope := open(envelop([]byte(row.key), row.reason, []byte(row.data)))
			if !isEnvelope || string(key) != row.key || reason != row.reason || string(data) != row.data {
				t.Errorf("got %q, %q, %q, %t", key, reason, data, isEnvelope)
			}
		})
	}
	if _, _, _, isEnvelope := open([]byte("k8s\x00object")); isEnvelope {
		t.Error("an object is mistaken for an envelope")
	}
}
