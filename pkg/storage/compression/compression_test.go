// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package compression

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"
)

// configured is a getter of options with the transformer for encryption, nil for none.
type configured struct{ encrypting value.Transformer }

func (c configured) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.NewDefaultConfig("/registry", nil)
	config.Transformer = c.encrypting
	return generic.RESTOptions{StorageConfig: config.ForResource(resource)}, nil
}

func transformerOver(t *testing.T, encrypting value.Transformer) value.Transformer {
	t.Helper()
	options, err := WithCompression(configured{encrypting}).GetRESTOptions(schema.GroupResource{Resource: "modelboxes"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return options.StorageConfig.Transformer
}

func newSecretbox(t *testing.T, key byte) value.Transformer {
	t.Helper()
	return value.NewPrefixTransformers(errors.New("no key fits"), value.PrefixTransformer{
		Prefix: []byte("k8s:enc:secretbox:v1:key1:"), Transformer: secretbox.NewSecretboxTransformer([32]byte{key}),
	})
}

func TestRoundTrip(t *testing.T) {
	box, err := os.ReadFile("../../apis/model/v1/testdata/HEAD/model.github.com.v1.ModelBox.pb")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name       string
		encrypting value.Transformer
		prefix     string
	}{
		{"plain", nil, Prefix},
		{"encrypted", newSecretbox(t, 1), "k8s:enc:secretbox:v1:key1:"},
	} {
		t.Run(row.name, func(t *testing.T) {
			transformer := transformerOver(t, row.encrypting)
			for name, data := range map[string][]byte{"nothing": {}, "a byte": {1}, "a box": box, "many boxes": bytes.Repeat(box, 100)} {
				stored, err := transformer.TransformToStorage(t.Context(), data, value.DefaultContext(nil))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.HasPrefix(stored, []byte(row.prefix)) {
					t.Errorf("%s is stored as %.40q", name, stored)
				}
				if len(data) > 1000 && len(stored) > len(data)*2/3 {
					t.Errorf("%s: %d bytes are stored as %d", name, len(data), len(stored))
				}
				read, isStale, err := transformer.TransformFromStorage(t.Context(), stored, value.DefaultContext(nil))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(data), string(read)); diff != "" || isStale {
					t.Errorf("%s: stale: %v, -stored +read:\n%s", name, isStale, diff)
				}
			}
		})
	}
}

func TestValuesThatAreNotCompressed(t *testing.T) {
	encrypt := func(key byte, data string) []byte {
		stored, err := newSecretbox(t, key).TransformToStorage(t.Context(), []byte(data), value.DefaultContext(nil))
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	const object = "k8s\x00an object"
	for _, row := range []struct {
		name       string
		encrypting value.Transformer
		stored     []byte
		want       string
		err        string
	}{
		{"plain", nil, []byte(object), object, ""},
		{"encrypted", newSecretbox(t, 1), encrypt(1, object), object, ""},
		{"encrypted with another key", newSecretbox(t, 1), encrypt(2, object), "", "output array was not large enough"},
		{"encrypted, without a key", nil, encrypt(1, object), "", "identity transformer tried to read encrypted data"},
		{"truncated", nil, compress([]byte(object))[:len(Prefix)+9], "", "decompressing the stored value: "},
		{"changed", nil, append([]byte(Prefix), object...), "", "decompressing the stored value: "},
		{"more than the limit", nil, compress(make([]byte, maxValueBytes+1)), "", "decompressing the stored value: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			read, isStale, err := transformerOver(t, row.encrypting).TransformFromStorage(t.Context(), row.stored, value.DefaultContext(nil))
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("got %v, want %q", err, row.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(read) != row.want || !isStale {
				t.Errorf("stale: %v, got %q", isStale, read)
			}
		})
	}
}
