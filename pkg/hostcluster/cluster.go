// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostcluster knows which Kubernetes the children of boxes are in, and which of their fields it does not know.
//
// What the cluster serves is asked for, and not concluded from its version: an OpenAPI document has the fields. A field that a
// disabled feature gate makes the cluster drop is in the document all the same; the controllers see it missing in what they
// have applied, and the status of the box says so.
package hostcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// refreshPeriod is how often Run checks whether the version of the cluster has changed.
	refreshPeriod = 5 * time.Minute
	// retryPeriod is how soon Run asks the cluster again as long as it knows nothing.
	retryPeriod = 10 * time.Second
	// freshness is how long an answer of the cluster is valid if much depends on it.
	freshness = 10 * time.Second
)

// Cluster is the cluster that the children of boxes are in. It may be used by several goroutines.
type Cluster struct {
	discovery *discovery.DiscoveryClient
	openAPI   openapi.ClientWithContext
	clock     clock.PassiveClock

	known atomic.Pointer[knowledge]
	// asking has an element while a goroutine asks the cluster.
	asking chan struct{}
}

// knowledge is what the cluster answered.
type knowledge struct {
	version string
	// documents are the addresses of the documents that were read. They change with the content.
	documents map[string]string
	unknown   unknownFields
	asked     time.Time
}

// New returns a cluster without an answer yet.
func New(client *discovery.DiscoveryClient, clock clock.PassiveClock) *Cluster {
	return &Cluster{
		discovery: client,
		openAPI:   openapi.NewClientWithContext(client.RESTClient()),
		clock:     clock,
		asking:    make(chan struct{}, 1),
	}
}

// Version returns the version of the cluster, such as "v1.34.4", and "" as long as it is not known.
func (c *Cluster) Version() string {
	if known := c.known.Load(); known != nil {
		return known.version
	}
	return ""
}

// UnknownFields returns the fields of children that the cluster does not know, sorted. As long as nothing is known of the
// cluster there are none.
func (c *Cluster) UnknownFields() []Field {
	if known := c.known.Load(); known != nil {
		return known.unknown.all()
	}
	return nil
}

// UnknownIn returns where the object, a pointer to a struct that is at path, sets a field that the cluster does not know. The
// cluster is asked when nothing is known of it, and again before anything is said to be unknown. Where it does not answer
// while ctx lasts, what is known counts, and as long as nothing is, everything is taken for known.
func (c *Cluster) UnknownIn(ctx context.Context, object any, path *field.Path) ([]Use, error) {
	known := c.known.Load()
	if known != nil {
		uses, err := known.unknown.usesIn(object, path)
		if err != nil || len(uses) == 0 {
			return nil, err
		}
	}
	if err := c.Refresh(ctx, freshness); err != nil {
		klog.FromContext(ctx).V(2).Info("Asking the cluster for its fields failed", "err", err)
	}
	if known = c.known.Load(); known == nil {
		return nil, nil
	}
	return known.unknown.usesIn(object, path)
}

// Known returns a child as it is applied without the fields that the cluster does not know, and the child itself if it has no such
// field. It sends no request.
func (c *Cluster) Known(child *unstructured.Unstructured) *unstructured.Unstructured {
	known := c.known.Load()
	if known == nil {
		return child
	}
	return known.unknown.without(child)
}

// Run looks now and then what the cluster serves until ctx is done, and logs what has changed.
func (c *Cluster) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	for ctx.Err() == nil {
		period := refreshPeriod
		if err := c.Refresh(ctx, 0); err != nil && ctx.Err() == nil {
			logger.Error(err, "Finding out which Kubernetes the cluster is failed, will be tried again")
			period = retryPeriod
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait.Jitter(period, 0.1)):
		}
	}
}

// Refresh asks the cluster unless what is known of it is younger than that.
func (c *Cluster) Refresh(ctx context.Context, age time.Duration) error {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	before := c.known.Load()
	if before != nil && age > 0 && c.clock.Since(before.asked) < age {
		return nil
	}
	now, err := c.ask(ctx, before)
	if err != nil {
		return err
	}
	c.known.Store(now)
	if before == nil || before.version != now.version || !slices.Equal(before.unknown.all(), now.unknown.all()) {
		klog.FromContext(ctx).Info("Found out which Kubernetes the cluster is", "version", now.version, "unknownFields", now.unknown.names())
	}
	return nil
}

// ask reads what has changed since before, which is nil for the first time.
func (c *Cluster) ask(ctx context.Context, before *knowledge) (*knowledge, error) {
	version, err := c.discovery.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking the cluster for its version: %w", err)
	}
	paths, err := c.openAPI.PathsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking the cluster for its OpenAPI documents: %w", err)
	}
	now := &knowledge{version: version.GitVersion, documents: map[string]string{}, unknown: unknownFields{}, asked: c.clock.Now()}
	for path := range specs {
		if document, isServed := paths[path]; isServed {
			now.documents[path] = document.ServerRelativeURL()
		}
	}
	if before != nil && maps.Equal(before.documents, now.documents) {
		now.unknown = before.unknown
		return now, nil
	}
	for path := range now.documents {
		document, err := paths[path].SchemaWithContext(ctx, "application/json")
		if err != nil {
			return nil, fmt.Errorf("asking the cluster for the OpenAPI document of %s: %w", path, err)
		}
		defined, err := parseDefinitions(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		maps.Copy(now.unknown, newUnknownFields(maps.Values(specs[path]), defined))
	}
	return now, nil
}
