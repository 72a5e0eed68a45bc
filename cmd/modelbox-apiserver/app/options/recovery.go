// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/nospace"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

const (
	// recoveryTimeout is how long one request to the cluster may take. A page of records is some 20 MiB at most.
	recoveryTimeout = 30 * time.Second
	// minObservePeriod keeps a server without leader election, whose periods are not checked, from asking all the time.
	minObservePeriod = 100 * time.Millisecond
)

// RecoveryOptions says what is done about a store that has less than the cluster knows of.
type RecoveryOptions struct {
	Policy recovery.Policy
}

// NewRecoveryOptions returns the defaults.
func NewRecoveryOptions() *RecoveryOptions {
	return &RecoveryOptions{Policy: recovery.Recover}
}

// AddFlags adds the flags.
func (o *RecoveryOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar((*string)(&o.Policy), "store-recovery", string(o.Policy), "Action if the store is empty, older than before, "+
		"or not the store that the cluster knows, while the cluster has children of its objects. "+
		"recover: restore boxes, stacks and networks from their records in the cluster before the server becomes ready. "+
		"refuse: do not become ready, and report the reason. "+
		"ignore: serve the store as it is, for an intentional fresh start; the cluster then deletes the children of all missing objects.")
}

// Validate returns every error in the options.
func (o *RecoveryOptions) Validate() []error {
	switch o.Policy {
	case recovery.Recover, recovery.Refuse, recovery.Ignore:
		return nil
	default:
		return []error{fmt.Errorf("--store-recovery is %q and must be %q, %q or %q", o.Policy, recovery.Recover, recovery.Refuse, recovery.Ignore)}
	}
}

// Recovery returns what looks at the store before the server of this configuration is ready, and as long as it runs.
// etcd is the embedded one, nil where an outside one is used. fail ends the server.
func (o *Options) Recovery(config *genericapiserver.RecommendedConfig, etcd *embeddedetcd.Server, fail context.CancelCauseFunc) (*recovery.Runner, error) {
	corrupt := &corruptobject.Tracker{}
	config.RESTOptionsGetter = corrupt.WithIsolation(config.RESTOptionsGetter)
	boxes, err := config.RESTOptionsGetter.GetRESTOptions(model.Resource("modelboxes"), &model.ModelBox{})
	if err != nil {
		return nil, fmt.Errorf("finding the storage of boxes: %w", err)
	}
	stacks, err := config.RESTOptionsGetter.GetRESTOptions(model.Resource("modelstacks"), &model.ModelStack{})
	if err != nil {
		return nil, fmt.Errorf("finding the storage of stacks: %w", err)
	}
	networks, err := config.RESTOptionsGetter.GetRESTOptions(model.Resource("networks"), &model.Network{})
	if err != nil {
		return nil, fmt.Errorf("finding the storage of networks: %w", err)
	}
	holder, err := o.Storage.Identity()
	if err != nil {
		return nil, err
	}
	runnerConfig := recovery.Config{
		Policy:        o.StoreRecovery.Policy,
		Transport:     o.Recommended.Etcd.StorageConfig.Transport,
		Boxes:         boxes,
		Stacks:        stacks,
		Networks:      networks,
		Corrupt:       corrupt,
		IsExclusive:   o.Storage.DataDir != "",
		Holder:        holder,
		ObservePeriod: max(o.Controllers.LeaderElection.RetryPeriod.Duration, minObservePeriod),
	}
	if election := o.Controllers.LeaderElection; election.LeaderElect {
		runnerConfig.Lease = types.NamespacedName{Namespace: election.ResourceNamespace, Name: election.ResourceName}
	}
	cluster := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "store-recovery")
	cluster.Timeout = recoveryTimeout
	if runnerConfig.Cluster, err = kubernetes.NewForConfig(cluster); err != nil {
		return nil, fmt.Errorf("creating the client of the cluster for the recovery of the store: %w", err)
	}
	if runnerConfig.Children, err = metadata.NewForConfig(cluster); err != nil {
		return nil, fmt.Errorf("creating the client of the cluster's children for the recovery of the store: %w", err)
	}
	runner := recovery.NewRunner(runnerConfig, fail)

	decorator := runner.UncachedDecorator()
	if o.Recommended.Etcd.EnableWatchCache {
		decorator = runner.Decorator()
	}
	// Last: the decorator takes the place of any other.
	config.RESTOptionsGetter = nospace.WithStatus(corrupt.WithWarnings(decorated{config.RESTOptionsGetter, decorator}))
	chain := filters.Config{Scheme: apiserver.Scheme, Store: runner, Shortage: storage.Shortage(etcd)}
	if err := chain.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	config.AddReadyzChecks(runner)
	return runner, config.AddPostStartHook(runner.Name(), func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := runner.Run(hook); err != nil {
				fail(fmt.Errorf("recovering the store: %w", err))
			}
		}()
		return nil
	})
}

// decorated replaces the decorator of storage.
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
