// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/generic"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3/testserver"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

// backend is an etcd that servers keep boxes in.
type backend struct {
	etcd    *clientv3.Client
	scheme  *runtime.Scheme
	options generic.RESTOptions
}

// newBackend starts an etcd. The options are those that the flags of a server give by default: a watch cache in front
// of etcd, protobuf in it.
func newBackend(t testing.TB) *backend {
	t.Helper()
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
		map[schema.GroupResource]string{model.Resource("modelboxes"): "model.github.com/modelboxes"},
	)
	options, err := etcdOptions.CreateRESTOptionsGetter(factory, nil).GetRESTOptions(model.Resource("modelboxes"), &model.ModelBox{})
	if err != nil {
		t.Fatal(err)
	}
	return &backend{etcd: etcd, scheme: scheme, options: options}
}

// newStorage returns the stores of another server, whose watch cache has what is in etcd now.
func (b *backend) newStorage(t testing.TB) *Storage {
	t.Helper()
	storage, err := NewStorage(b.scheme, b.options, nil, utilnet.PortRange{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(storage.ModelBox.Destroy)
	eventually(t, "the watch cache is filled", storage.ModelBox.ReadinessCheckFunc)
	eventually(t, "etcd is known to tell its progress", func() error {
		if !etcdfeature.DefaultFeatureSupportChecker.Supports(apistorage.RequestWatchProgress) {
			return errors.New("without it, lists come from etcd")
		}
		return nil
	})
	return storage
}

// newStorage returns the stores of the only server of an etcd.
func newStorage(t testing.TB) *Storage {
	t.Helper()
	return newBackend(t).newStorage(t)
}
