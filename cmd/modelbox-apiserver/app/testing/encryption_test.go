// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	encryptionconfigcontroller "k8s.io/apiserver/pkg/server/options/encryptionconfig/controller"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

const (
	// reloadPeriod is how often the encryption configuration is looked at.
	reloadPeriod = 100 * time.Millisecond
	// encryptionTimeout is more than a server takes until it uses another key, and until it goes without its plugin no longer.
	encryptionTimeout = 5 * time.Minute
	// usePeriod is how long a user pauses between two requests.
	usePeriod = 50 * time.Millisecond

	identityProvider = "identity: {}"
)

// aescbcProvider and secretboxProvider have one key.
var (
	aescbcProvider    = "aescbc: {keys: [{name: key1, secret: " + key('1') + "}]}"
	secretboxProvider = "secretbox: {keys: [{name: key2, secret: " + key('2') + "}]}"
)

// init sets what there is no option for, before any server reads it.
func init() { encryptionconfigcontroller.EncryptionConfigFileChangePollDuration = reloadPeriod }

// key returns one that has 32 times the same byte.
func key(character byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(character), 32)))
}

// encryptedStore is the data directory of servers that are started one after the other.
type encryptedStore struct {
	dir, config string
}

func newEncryptedStore(t *testing.T) *encryptedStore {
	t.Helper()
	// Not in TMPDIR, which may be long: the path of a socket may not.
	dir, err := os.MkdirTemp("/tmp", "mb-encryption-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &encryptedStore{dir: dir, config: filepath.Join(dir, "encryption.yaml")}
}

// configure gives the servers these providers. The first one encrypts.
func (s *encryptedStore) configure(t *testing.T, providers ...string) {
	t.Helper()
	lines := []string{
		"apiVersion: apiserver.config.k8s.io/v1", "kind: EncryptionConfiguration", "resources:",
		`- resources: ["*.model.github.com"]`, "  providers:",
	}
	for _, provider := range providers {
		lines = append(lines, "  - "+provider)
	}
	draft := s.config + ".new" // a reload finds the whole file
	if err := os.WriteFile(draft, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(draft, s.config); err != nil {
		t.Fatal(err)
	}
}

// flags returns the flags of a server on the store.
func (s *encryptedStore) flags(flags ...string) []string {
	return append([]string{"--data-dir=" + filepath.Join(s.dir, "data"), "--encryption-provider-config=" + s.config}, flags...)
}

// objects returns the UIDs of all objects that the server has.
func (s *TestServer) objects(t *testing.T) map[string]types.UID {
	t.Helper()
	uids, err := s.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return uids
}

// expectObjects expects that the server has the same objects as before.
func (s *TestServer) expectObjects(t *testing.T, before map[string]types.UID) {
	t.Helper()
	if diff := cmp.Diff(before, s.objects(t)); diff != "" {
		t.Errorf("-before +now:\n%s", diff)
	}
}

// list is objects that can fail.
func (s *TestServer) list(ctx context.Context) (map[string]types.UID, error) {
	client, err := dynamic.NewForConfig(s.ClientConfig)
	if err != nil {
		return nil, err
	}
	uids := map[string]types.UID{}
	for _, resource := range []string{"modelboxes", "modelstacks", "networks"} {
		list, err := client.Resource(modelv1.SchemeGroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, object := range list.Items {
			uids[resource+"/"+object.GetName()] = object.GetUID()
		}
	}
	return uids, nil
}

func (s *TestServer) dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// createOneOfEach stores a box, a stack and a network.
func (s *TestServer) createOneOfEach(t *testing.T) {
	t.Helper()
	client, err := versioned.NewForConfig(s.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	models := client.ModelV1()
	spec := modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}
	if _, err := models.ModelBoxes(metav1.NamespaceDefault).Create(t.Context(),
		&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	stack.Spec.Components = []modelv1.ModelStackComponent{{Name: "web", Box: &spec}}
	if _, err := models.ModelStacks(metav1.NamespaceDefault).Create(t.Context(), stack, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	network := &modelv1.Network{ObjectMeta: metav1.ObjectMeta{Name: "lan"}, Spec: modelv1.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.1"}}
	if _, err := models.Networks(metav1.NamespaceDefault).Create(t.Context(), network, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// rewrite writes all objects as they are, until the stored bytes of each begin with the prefix. The server stores an update that
// changes nothing if the stored bytes are of another key than the present one.
func (s *TestServer) rewrite(t *testing.T, prefix string) {
	t.Helper()
	s.rewriteUntil(t, "what is stored begins with "+prefix, func(ctx context.Context) error { return s.checkStored(ctx, prefix) })
}

// rewriteUntil is rewrite until a check of what is stored succeeds.
func (s *TestServer) rewriteUntil(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	s.eventually(t, what, func(ctx context.Context) error {
		for _, resource := range []string{"modelboxes", "modelstacks", "networks"} {
			objects := s.dynamicClient(t).Resource(modelv1.SchemeGroupVersion.WithResource(resource))
			list, err := objects.List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			if err := meta.EachListItem(list, func(item runtime.Object) error {
				object := item.(*unstructured.Unstructured)
				_, err := objects.Namespace(object.GetNamespace()).Update(ctx, object, metav1.UpdateOptions{})
				if apierrors.IsConflict(err) {
					return nil // another client has written it
				}
				return err
			}); err != nil {
				return err
			}
		}
		return check(ctx)
	})
}

// checkStored returns an error when one of the three objects is stored otherwise than with the prefix.
func (s *TestServer) checkStored(ctx context.Context, prefix string) error {
	stored, err := s.EtcdClient.Get(ctx, storedPrefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	if len(stored.Kvs) != 3 {
		return fmt.Errorf("%d objects are stored, not 3", len(stored.Kvs))
	}
	for _, pair := range stored.Kvs {
		if !strings.HasPrefix(string(pair.Value), prefix) {
			return fmt.Errorf("%s is stored as %.40q", pair.Key, pair.Value)
		}
		if prefix != plainPrefix && strings.Contains(string(pair.Value), plainPrefix) {
			return fmt.Errorf("%s shows what it has", pair.Key)
		}
	}
	return nil
}

const (
	// storedPrefix is what the keys of all objects begin with.
	storedPrefix = "/registry/model.github.com/"
	// plainPrefix is what is stored begins with that is not encrypted.
	plainPrefix = compression.Prefix
)

func (s *TestServer) eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), reloadPeriod, encryptionTimeout, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); err == nil || ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	}); err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}

// expectUnready waits until a check of readyz says these texts, and expects that the server answers no request for objects.
func (s *TestServer) expectUnready(t *testing.T, check string, texts ...string) {
	t.Helper()
	s.eventually(t, check+" says what is wrong", func(ctx context.Context) error {
		answer, err := s.ask(ctx, "/readyz/"+check)
		if err == nil {
			return errors.New("it passes")
		}
		for _, text := range texts {
			if !strings.Contains(answer, text) {
				return fmt.Errorf("%w: %s", err, answer)
			}
		}
		return nil
	})
	for _, resource := range []string{"modelboxes", "modelstacks", "networks"} {
		if _, err := s.ask(t.Context(), "/apis/model.github.com/v1/"+resource); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("a list of %s is answered with: %v", resource, err)
		}
	}
}

// ask returns what the server answers at once to a path, which may have a query.
func (s *TestServer) ask(ctx context.Context, path string) (string, error) {
	var err error
	if s.ClientConfig.CAData, err = os.ReadFile(s.caFile); err != nil {
		return "", err
	}
	client, err := discovery.NewDiscoveryClientForConfig(s.ClientConfig)
	if err != nil {
		return "", err
	}
	answer, err := client.RESTClient().Get().RequestURI(path).MaxRetries(0).DoRaw(ctx)
	return string(answer), err
}

// annotate changes a box.
func (s *TestServer) annotate(ctx context.Context, value string) error {
	client, err := versioned.NewForConfig(s.ClientConfig)
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"example.com/round": %q}}}`, value)
	_, err = client.ModelV1().ModelBoxes(metav1.NamespaceDefault).Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// keepUsing changes a box and reads all objects until stop is called, which returns how often.
func (s *TestServer) keepUsing(t *testing.T) (stop func() int64) {
	t.Helper()
	user := &TestServer{ClientConfig: rest.CopyConfig(s.ClientConfig)}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var answered atomic.Int64
	running.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(usePeriod) {
			err := user.annotate(ctx, fmt.Sprint(answered.Load()))
			if err == nil {
				_, err = user.list(ctx)
			}
			if err != nil && ctx.Err() == nil {
				t.Errorf("a request failed: %v", err)
				return
			}
			answered.Add(1)
		}
	})
	return func() int64 {
		cancel()
		running.Wait()
		return answered.Load()
	}
}

// TestEncryptionKeysAreRotatedUnderRequests turns encryption on, rotates its key while requests run, and takes the keys away
// from what was encrypted with them.
func TestEncryptionKeysAreRotatedUnderRequests(t *testing.T) {
	store := newEncryptedStore(t)
	var created map[string]types.UID

	t.Run("turned on and rotated", func(t *testing.T) {
		store.configure(t, identityProvider, aescbcProvider)
		server := StartTestServer(t, store.flags("--encryption-provider-config-automatic-reload")...)
		server.createOneOfEach(t)
		created = server.objects(t)
		if err := server.checkStored(t.Context(), plainPrefix); err != nil {
			t.Fatal(err)
		}
		stop := server.keepUsing(t)
		for _, step := range []struct {
			providers []string
			prefix    string
		}{
			{[]string{aescbcProvider, identityProvider}, "k8s:enc:aescbc:v1:key1:"},
			{[]string{secretboxProvider, aescbcProvider}, "k8s:enc:secretbox:v1:key2:"},
		} {
			store.configure(t, step.providers...)
			server.rewrite(t, step.prefix)
		}
		if stop() == 0 {
			t.Error("no request was answered")
		}
	})
	for _, test := range []struct {
		name string
		// configure takes the key away.
		configure func(t *testing.T) []string
		text      string
	}{
		{"without the key", func(t *testing.T) []string {
			store.configure(t, aescbcProvider, identityProvider)
			return store.flags()
		}, "no matching prefix found"},
		{"with a wrong key of the same name", func(t *testing.T) []string {
			store.configure(t, strings.ReplaceAll(secretboxProvider, key('2'), key('3')))
			return store.flags()
		}, "output array was not large enough for encryption"},
		{"without encryption", func(*testing.T) []string { return store.flags()[:1] }, "identity transformer tried to read encrypted data"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := start(t, test.configure(t)...)
			server.expectUnready(t, "store-recovery", "encrypted with a key that this server does not have", "box default/web", test.text, "--encryption-provider-config")
		})
	}
	t.Run("with the last key alone", func(t *testing.T) {
		store.configure(t, secretboxProvider)
		server := StartTestServer(t, store.flags()...)
		server.expectObjects(t, created)
	})
	t.Run("with a key that is lost", func(t *testing.T) {
		store.configure(t, aescbcProvider)
		server := StartTestServer(t, store.flags("--store-recovery=ignore")...)
		box := server.dynamicClient(t).Resource(modelv1.SchemeGroupVersion.WithResource("modelboxes")).Namespace(metav1.NamespaceDefault)
		if _, err := box.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsInternalError(err) {
			t.Errorf("a box that cannot be read is answered with: %v", err)
		}
		if err := box.Delete(t.Context(), "web", metav1.DeleteOptions{}); err == nil {
			t.Error("it is deleted although it cannot be read")
		}
		client, err := discovery.NewDiscoveryClientForConfig(server.ClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.RESTClient().Delete().AbsPath("/apis/model.github.com/v1/namespaces/default/modelboxes/web").
			Param("ignoreStoreReadErrorWithClusterBreakingPotential", "true").Do(t.Context()).Error(); err != nil {
			t.Errorf("it cannot be deleted by force: %v", err)
		}
		if _, err := box.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
}
