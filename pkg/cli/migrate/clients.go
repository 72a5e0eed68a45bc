// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// fieldManager is who writes in the name of this command.
const fieldManager = "kubectl-modelbox-migrate"

// parallelism is how many boxes are worked on at a time, which mostly wait for controllers.
const parallelism = 32

var (
	boxes       = modelv1.SchemeGroupVersion.WithResource("modelboxes")
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// clients are the clients of one cluster.
type clients struct {
	cluster     kubernetes.Interface
	boxes       versioned.Interface
	dynamic     dynamic.Interface
	metadata    metadata.Interface
	discovery   discovery.DiscoveryInterface
	apiServices aggregator.Interface
	mapper      meta.RESTMapper
}

func newClients(flags genericclioptions.RESTClientGetter) (*clients, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	c := &clients{}
	if c.mapper, err = flags.ToRESTMapper(); err != nil {
		return nil, err
	}
	return c, errors.Join(
		connect(&c.cluster, kubernetes.NewForConfigAndClient, config, client),
		connect(&c.boxes, versioned.NewForConfigAndClient, config, client),
		connect(&c.dynamic, dynamic.NewForConfigAndClient, config, client),
		connect(&c.metadata, metadata.NewForConfigAndClient, config, client),
		connect(&c.discovery, discovery.NewDiscoveryClientForConfigAndClient, config, client),
		connect(&c.apiServices, aggregator.NewForConfigAndClient, config, client),
	)
}

// connect sets the client of an interface to a new one.
func connect[I any, C any](to *I, create func(*rest.Config, *http.Client) (C, error), config *rest.Config, client *http.Client) error {
	created, err := create(config, client)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	*to = any(created).(I)
	return nil
}

// inParallel does something to each element, and returns all errors. One that fails does not keep the others from being done.
func inParallel[T any](ctx context.Context, elements []T, do func(context.Context, T) error) error {
	errs := make([]error, len(elements))
	workqueue.ParallelizeUntil(ctx, parallelism, len(elements), func(i int) { errs[i] = do(ctx, elements[i]) })
	return errors.Join(append(errs, ctx.Err())...)
}
