// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage has the storage of the server: what it does beside the storage of a generic API server, and in which order.
package storage

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/etcdclient"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/nospace"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/sizelimit"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/versionskew"
)

// Config is what the storage depends on.
type Config struct {
	// EnableWatchCache is whether requests are answered from a cache where they may be.
	EnableWatchCache bool
	// Recovery is the configuration of the recovery of the store. ApplyTo sets the storage in it.
	Recovery recovery.Config
	// Fail ends the server.
	Fail context.CancelCauseFunc
}

// ApplyTo sets up the storage of the server, and returns what recovers the store, which AddRecovery runs. It stands in for
// EtcdOptions.ApplyTo, whose storage factory ignores --storage-media-type.
func (c Config) ApplyTo(etcd *genericoptions.EtcdOptions, config *genericapiserver.Config) (*recovery.Runner, error) {
	storageConfig := etcd.StorageConfig
	storageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	factory := apiserver.NewStorageFactory(storageConfig, etcd.DefaultStorageMediaType, config.EffectiveVersion)
	if err := etcd.ApplyWithStorageFactoryTo(factory, config); err != nil {
		return nil, fmt.Errorf("applying the storage options: %w", err)
	}
	c.Recovery.NewClient = func() (*clientv3.Client, error) { return etcdclient.New(storageConfig.Transport) }
	var runner *recovery.Runner
	var err error
	config.RESTOptionsGetter, runner, err = c.decorate(config.RESTOptionsGetter)
	return runner, err
}

// decorate returns the options of the storage, and what recovers the store. getter has the options of a generic API server, with
// encryption if it is configured.
func (c Config) decorate(getter generic.RESTOptionsGetter) (generic.RESTOptionsGetter, *recovery.Runner, error) {
	d := &decoration{Config: c, corrupt: &corruptobject.Tracker{}}
	for _, decorate := range d.decorators() {
		var err error
		if getter, err = decorate(getter); err != nil {
			return nil, nil, err
		}
	}
	return getter, d.runner, nil
}

// decoration has what several decorators share.
type decoration struct {
	Config
	corrupt *corruptobject.Tracker
	runner  *recovery.Runner
}

// decorator changes the options of the storage.
type decorator func(generic.RESTOptionsGetter) (generic.RESTOptionsGetter, error)

// decorators returns the decorators from the bytes in etcd to the answers to requests. Each has the reason for its place.
func (d *decoration) decorators() []decorator {
	return []decorator{
		// First, next to encryption: what is encrypted cannot be compressed.
		infallible(compression.WithCompression),
		// Of objects that are not compressed: 15 KB in etcd can be 70 MB of an object.
		infallible(sizelimit.WithLimits),
		// Before isolation: it reads the bytes of an object, which isolation puts into an envelope.
		infallible(func(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
			return versionskew.WithCheck(getter, apiserver.Scheme, d.Fail)
		}),
		// After everything else that decodes: whatever fails there, lists leave the object out.
		infallible(d.corrupt.WithIsolation),
		// Between the options for bytes, with which the recovery reads the store itself, and the decorators of the storage, whose
		// place its own takes.
		d.withRecovery,
		// After the recovery, whose cache leaves out the objects that this warns of.
		infallible(d.corrupt.WithWarnings),
		// Last: it turns an error of etcd, whichever storage passes it on, into a status for the user.
		infallible(nospace.WithStatus),
	}
}

// infallible returns a decorator that returns no error.
func infallible(decorate func(generic.RESTOptionsGetter) generic.RESTOptionsGetter) decorator {
	return func(getter generic.RESTOptionsGetter) (generic.RESTOptionsGetter, error) {
		return decorate(getter), nil
	}
}

// withRecovery creates the runner, with the storage of getter, and has it decorate the storage.
func (d *decoration) withRecovery(getter generic.RESTOptionsGetter) (generic.RESTOptionsGetter, error) {
	config := d.Recovery
	config.Corrupt = d.corrupt
	if err := config.SetStorage(decorated{getter, generic.UndecoratedStorage}); err != nil {
		return nil, err
	}
	d.runner = recovery.NewRunner(config, d.Fail)
	if d.EnableWatchCache {
		return decorated{getter, d.runner.Decorator()}, nil
	}
	return decorated{getter, d.runner.UncachedDecorator()}, nil
}

// decorated replaces the decorator of the storage.
type decorated struct {
	generic.RESTOptionsGetter
	decorator generic.StorageDecorator
}

// GetRESTOptions returns the options of a resource.
func (d decorated) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := d.RESTOptionsGetter.GetRESTOptions(resource, example)
	options.Decorator = d.decorator
	return options, err
}
