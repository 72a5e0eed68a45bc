// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	kmstypes "k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2/v2"
)

const (
	// growthVariable asks for the long form of the tests, which takes minutes, as make test-growth does. In it, no client asks the
	// server for the health of the plugin, which would make the server ask the plugin, and no test moves a clock forward.
	growthVariable = "MODELBOX_E2E_GROWTH"

	// writeTime is for how long a server encrypts without its plugin, and some more.
	writeTime = 4 * time.Minute
)

// TestEncryptionKeyOfPluginIsRotated rotates the key of a plugin under a running server, which continues to serve requests,
// rewrites the stored objects, and removes the former key.
func TestEncryptionKeyOfPluginIsRotated(t *testing.T) {
	t.Parallel()
	store := newEncryptedStore(t)
	plugin := store.startPlugin(t, "rotated")
	store.configure(t, plugin.provider())
	const box, stack, network = "modelboxes/default/web", "modelstacks/default/shop", "networks/default/lan"
	var created map[string]types.UID

	t.Run("under a running server", func(t *testing.T) {
		server := StartTestServer(t, store.flags()...)
		server.createOneOfEach(t)
		created = server.objects(t)
		server.expectKeys(t, plugin, map[string]string{box: "1", stack: "1", network: "1"})

		stop := server.keepUsing(t)
		plugin.rotate(t, "2")
		server.eventually(t, "what is written is under the new key", func(ctx context.Context) error {
			if os.Getenv(growthVariable) == "" {
				if _, err := server.ask(ctx, "/readyz/kms-providers"); err != nil {
					return err
				}
			}
			keys, err := server.storedKeys(ctx, plugin)
			if err == nil && keys[box] != "2" {
				err = fmt.Errorf("the box is under key %s", keys[box])
			}
			return err
		})
		server.expectKeys(t, plugin, map[string]string{box: "2", stack: "1", network: "1"})
		server.expectObjects(t, created)

		server.rewriteUntil(t, "all objects are under the new key", func(ctx context.Context) error {
			keys, err := server.storedKeys(ctx, plugin)
			if diff := cmp.Diff(map[string]string{box: "2", stack: "2", network: "2"}, keys); err == nil && diff != "" {
				err = errors.New(diff)
			}
			return err
		})
		plugin.takeAway("1")
		server.expectObjects(t, created)
		if stop() == 0 {
			t.Error("no request was answered")
		}
	})
	t.Run("without the former key", func(t *testing.T) {
		server := StartTestServer(t, store.flags()...)
		server.expectObjects(t, created)
		server.expectKeys(t, plugin, map[string]string{box: "2", stack: "2", network: "2"})
	})
	t.Run("without the key of what is stored", func(t *testing.T) {
		plugin.rotate(t, "3")
		plugin.takeAway("2")
		server := start(t, store.flags()...)
		server.expectUnready(t, "store-recovery", "encrypted with a key that this server does not have", "box default/web", "there is no key 2")
	})
}

// TestEncryptionPluginIsAway takes the plugin away from a running server and from one that starts, and gives it back.
func TestEncryptionPluginIsAway(t *testing.T) {
	t.Parallel()
	store := newEncryptedStore(t)
	plugin := store.startPlugin(t, "away")
	store.configure(t, plugin.provider())
	var forward atomic.Int64
	t.Cleanup(kmsv2.SetNowFuncForTests(plugin.name, func() time.Time { return time.Now().Add(time.Duration(forward.Load())) }))
	var created map[string]types.UID

	t.Run("while the server runs", func(t *testing.T) {
		server := StartTestServer(t, store.flags()...)
		server.createOneOfEach(t)
		created = server.objects(t)
		if err := server.checkStored(t.Context(), plugin.prefix()); err != nil {
			t.Fatal(err)
		}

		// The keys in the memory of the server are enough to continue for a while.
		stop := server.keepUsing(t)
		plugin.stop()
		server.eventually(t, "the plugin is missed", func(ctx context.Context) error {
			if _, err := server.ask(ctx, "/readyz/kms-providers"); err == nil {
				return errors.New("the check passes")
			}
			return nil
		})
		if stop() == 0 {
			t.Error("no request was answered")
		}

		if os.Getenv(growthVariable) == "" {
			forward.Store(int64(writeTime))
		}
		var refusal error
		server.eventually(t, "writes are refused", func(ctx context.Context) error {
			if refusal = server.annotate(ctx, time.Now().String()); refusal == nil {
				return errors.New("a write succeeds")
			}
			return nil
		})
		if !apierrors.IsInternalError(refusal) || !strings.Contains(refusal.Error(), "encryptedDEKSource") ||
			!strings.Contains(refusal.Error(), "expired at") {
			t.Errorf("a write is refused with: %v", refusal)
		}
		server.expectObjects(t, created)
		for _, path := range []string{"/livez", "/readyz?exclude=kms-providers"} {
			if answer, err := server.ask(t.Context(), path); err != nil {
				t.Errorf("%s says: %v: %s", path, err, answer)
			}
		}

		plugin.start(t)
		awaitReady(t, server.ClientConfig, server.caFile)
		if err := server.annotate(t.Context(), "back"); err != nil {
			t.Errorf("a write is refused although the plugin is back: %v", err)
		}
	})
	t.Run("when the server starts", func(t *testing.T) {
		plugin.stop()
		server := start(t, store.flags()...)
		server.expectUnready(t, "kms-providers", plugin.name, plugin.socket)
		server.expectUnready(t, "store-recovery", "encrypted with a key that this server does not have")
		plugin.start(t)
		awaitReady(t, server.ClientConfig, server.caFile)
		server.expectObjects(t, created)
	})
}

// expectKeys expects that what is stored is under these keys of the plugin.
func (s *TestServer) expectKeys(t *testing.T, plugin *kmsPlugin, want map[string]string) {
	t.Helper()
	keys, err := s.storedKeys(t.Context(), plugin)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("IDs of keys: -want +got:\n%s", diff)
	}
}

// storedKeys returns the IDs of the plugin's keys that what is stored is encrypted with, by resource, namespace and name.
func (s *TestServer) storedKeys(ctx context.Context, plugin *kmsPlugin) (map[string]string, error) {
	stored, err := s.EtcdClient.Get(ctx, storedPrefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, pair := range stored.Kvs {
		value, isEncrypted := strings.CutPrefix(string(pair.Value), plugin.prefix())
		if !isEncrypted {
			return nil, fmt.Errorf("%s is stored as %.40q", pair.Key, pair.Value)
		}
		var object kmstypes.EncryptedObject
		if err := proto.Unmarshal([]byte(value), &object); err != nil {
			return nil, fmt.Errorf("%s: %w", pair.Key, err)
		}
		keys[strings.TrimPrefix(string(pair.Key), storedPrefix)] = object.KeyID
	}
	return keys, nil
}
