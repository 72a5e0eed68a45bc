// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apiserver/pkg/storage/value"
)

// failing is a transformer that cannot decrypt.
type failing struct{ err error }

func (f failing) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, f.err
}

func (f failing) TransformToStorage(context.Context, []byte, value.Context) ([]byte, error) {
	return nil, f.err
}

// If a KMS plugin is unavailable for a moment, the caches must not leave out every object.
func TestTolerantReadsReturnTemporaryErrors(t *testing.T) {
	away := errors.New("away")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name   string
		ctx    context.Context
		stored string
		fails  bool
	}{
		{"a value that no key fits", withTolerance(t.Context()), "k8s:enc:secretbox:v1:key1:?", false},
		{"a value that a plugin encrypted", withTolerance(t.Context()), "k8s:enc:kms:v2:key1:?", true},
		{"a request that has ended", withTolerance(ended), "k8s:enc:secretbox:v1:key1:?", true},
		{"a read of one object", t.Context(), "k8s:enc:secretbox:v1:key1:?", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			key := value.DefaultContext("/registry/boxes/shop/web")
			data, _, err := transformer{failing{away}}.TransformFromStorage(row.ctx, []byte(row.stored), key)
			if row.fails {
				if !errors.Is(err, away) {
					t.Errorf("got %v", err)
				}
				return
			}
			if _, reason, _, isEnvelope := open(data); err != nil || !isEnvelope || reason != "away" {
				t.Errorf("got %q, %v", data, err)
			}
		})
	}
}
