// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
)

// requestTimeout is the timeout of a request to the cluster. A page of records has at most some 20 MiB.
const requestTimeout = 30 * time.Second

// Config is the configuration of a Runner.
type Config struct {
	Policy Policy
	// NewClient returns a client of the store, which Run closes.
	NewClient func() (*clientv3.Client, error)
	// Boxes, Stacks and Networks are the storage options of the resources. Their decorators return the storage without a cache.
	Boxes    generic.RESTOptions
	Stacks   generic.RESTOptions
	Networks generic.RESTOptions
	// Corrupt tracks the objects that cannot be read, and hides them from lists and watches.
	Corrupt *corruptobject.Tracker
	// IsExclusive is true if no other process can use the store, as with the embedded etcd.
	IsExclusive bool

	// KubeClient is a client of the host cluster. MetadataClient reads the metadata of children there.
	KubeClient     kubernetes.Interface
	MetadataClient metadata.Interface
	// Lease is the Lease of leader election, on which the server records the store. Empty if there is none.
	Lease types.NamespacedName
	// Holder is the identity of this process in leader election.
	Holder string
	// ObservePeriod is the time between two checks that the store is still the same.
	ObservePeriod time.Duration
}

// SetStorage sets the storage options of the resources. The decorators of the getter must return the storage without a cache.
func (c *Config) SetStorage(getter generic.RESTOptionsGetter) error {
	for _, resource := range []struct {
		name    string
		example runtime.Object
		options *generic.RESTOptions
	}{
		{"modelboxes", &model.ModelBox{}, &c.Boxes},
		{"modelstacks", &model.ModelStack{}, &c.Stacks},
		{"networks", &model.Network{}, &c.Networks},
	} {
		var err error
		if *resource.options, err = getter.GetRESTOptions(model.Resource(resource.name), resource.example); err != nil {
			return fmt.Errorf("finding the storage of %s: %w", resource.name, err)
		}
	}
	return nil
}

// SetClients sets the clients of the host cluster, which connect as clientConfig says.
func (c *Config) SetClients(clientConfig *rest.Config) error {
	clientConfig = rest.AddUserAgent(rest.CopyConfig(clientConfig), "store-recovery")
	clientConfig.Timeout = requestTimeout
	var err error
	if c.KubeClient, err = kubernetes.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client of the cluster for the recovery of the store: %w", err)
	}
	if c.MetadataClient, err = metadata.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client of the cluster's children for the recovery of the store: %w", err)
	}
	return nil
}
