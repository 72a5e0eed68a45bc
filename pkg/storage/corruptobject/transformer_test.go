// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apiserver/pkg/storage/value"
)

// failing cannot decrypt anything.
type failing struct{ err error }

func (f failing) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, f.err
}

func (f failing) TransformToStorage(context.Context, []byte, value.Context) ([]byte, error) {
	return nil, f.err
}

// A plugin that is away for a moment must not have every object left out of the caches.
func TestOnlyLastingErrorsAreKeptGoingFrom(t *testing.T) {
	away := errors.New("away")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name   string
		ctx    context.Context
		stored string
		fails  bool
	}{
		{"a value that no key fits", withKeepGoing(t.Context()), "k8s:enc:secretbox:v1:key1:?", false},
		{"a value that a plugin encrypted", withKeepGoing(t.Context()), "k8s:enc:kms:v2:key1:?", true},
		{"a request that has ended", withKeepGoing(ended), "k8s:enc:secretbox:v1:key1:?", true},
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
