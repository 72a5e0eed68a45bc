// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/storagequota"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/nospace"
)

// namespaceUsageHook is what counts the bytes of objects.
const namespaceUsageHook = "modelbox-namespace-usage"

// memoryShare is the part of the memory limit that the objects of one namespace may take as they are stored. In the watch
// cache, in the caches of controllers and in responses they take several times as much.
const memoryShare = 8

// NamespaceLimit returns how many bytes the objects of a namespace may take, 0 for no limit. maxBytes is the configured limit,
// negative for no limit and 0 for the default. etcd is nil for an external etcd. memoryLimit is the limit of the process,
// math.MaxInt64 for none.
func NamespaceLimit(maxBytes int64, etcd *embeddedetcd.Server, memoryLimit int64) int {
	if maxBytes != 0 {
		return int(max(0, maxBytes))
	}
	limit := int64(math.MaxInt64)
	if etcd != nil {
		limit = etcd.BytesForBoxes() / 2
	}
	if memoryLimit < math.MaxInt64 {
		limit = min(limit, memoryLimit/memoryShare)
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return int(limit)
}

// Shortage returns what says with which error boxes may not grow. It is nil where nothing is known of the storage.
func Shortage(etcd *embeddedetcd.Server) func() error {
	if etcd == nil {
		return nil
	}
	return func() error {
		if shortage := etcd.Shortage(); shortage != nil {
			return nospace.NewError(shortage.Message)
		}
		return nil
	}
}

// NewQuota returns what the admission plugin goes by: whether the storage has room, and what the objects of a
// namespace take, which is counted once the server serves. 0 is no limit for that.
func NewQuota(etcd *embeddedetcd.Server, namespaceLimit int, config *genericapiserver.Config) (storagequota.Initializer, error) {
	initializer := storagequota.Initializer{Shortage: Shortage(etcd)}
	if namespaceLimit == 0 {
		return initializer, nil
	}
	var resources []string
	for _, resource := range apiserver.StoredResources() {
		resources = append(resources, resource.Resource)
	}
	initializer.MaxNamespaceBytes = namespaceLimit
	initializer.Usage = storagequota.NewUsage(clock.RealClock{}, resources...)
	err := config.AddPostStartHook(namespaceUsageHook, func(hook genericapiserver.PostStartHookContext) error {
		return startCounting(hook, hook.LoopbackClientConfig, initializer.Usage, resources)
	})
	return initializer, err
}

// startCounting lets the usage follow the objects of the resources until ctx is done.
func startCounting(ctx context.Context, config *rest.Config, usage *storagequota.Usage, resources []string) error {
	config = rest.AddUserAgent(rest.CopyConfig(config), "namespace-usage")
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client of this server's objects: %w", err)
	}
	for _, resource := range resources {
		objects := cache.NewListWatchFromClient(client.ModelV1().RESTClient(), resource, metav1.NamespaceAll, fields.Everything())
		source := cache.ToListWatcherWithWatchListSemantics(objects, client)
		reflector := cache.NewReflectorWithOptions(source, nil, usage.Store(resource), cache.ReflectorOptions{Name: namespaceUsageHook, TypeDescription: resource})
		go reflector.RunWithContext(ctx)
	}
	return nil
}
