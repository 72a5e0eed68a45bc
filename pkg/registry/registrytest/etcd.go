// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package registrytest lets tests store objects as a server does.
package registrytest

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3/testserver"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

// timeout is how long is waited for what should happen at once. A machine that is busy is no bug.
const timeout = 60 * time.Second

// Backend is an etcd that servers keep the objects of a resource in.
type Backend struct {
	Etcd   *clientv3.Client
	Scheme *runtime.Scheme
	// Options are those that the flags of a server give by default: a watch cache in front of etcd, protobuf in it.
	Options generic.RESTOptions
}

// NewBackend starts an etcd for the test, which is skipped with -short. example is an object of the resource.
func NewBackend(t testing.TB, resource schema.GroupResource, example runtime.Object) *Backend {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: an etcd for each test takes long")
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)

	etcd := testserver.RunEtcd(t, nil).Client
	etcdOptions := genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	etcdOptions.StorageConfig.Transport.ServerList = etcd.Endpoints()
	factory := serverstorage.NewDefaultStorageFactory(
		etcdOptions.StorageConfig,
		runtime.ContentTypeProtobuf,
		serializer.NewCodecFactory(scheme),
		serverstorage.NewDefaultResourceEncodingConfig(scheme),
		serverstorage.NewResourceConfig(),
		map[schema.GroupResource]string{resource: resource.Group + "/" + resource.Resource},
	)
	options, err := etcdOptions.CreateRESTOptionsGetter(factory, nil).GetRESTOptions(resource, example)
	if err != nil {
		t.Fatal(err)
	}
	return &Backend{Etcd: etcd, Scheme: scheme, Options: options}
}

// Await returns when the watch cache of a store has what is in etcd now, and lists are answered from it. The store is
// destroyed at the end of the test.
func Await(t testing.TB, store *genericregistry.Store) {
	t.Helper()
	t.Cleanup(store.Destroy)
	deadline := time.Now().Add(timeout)
	for {
		err := store.ReadinessCheckFunc()
		if err == nil && !etcdfeature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress) {
			err = errors.New("etcd is not known to tell its progress: lists come from there")
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for the watch cache. At last: %v", timeout, err)
		}
		time.Sleep(time.Millisecond)
	}
}
