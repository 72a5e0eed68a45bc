// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/storagequota"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

// namespaceUsageHook is what counts the bytes of boxes.
const namespaceUsageHook = "modelbox-namespace-usage"

// storageQuotaFor returns what the admission plugin goes by: whether the storage has room, and what the boxes of a
// namespace take, which is counted once the server serves. 0 is no limit for that.
func storageQuotaFor(etcd *embeddedetcd.Server, namespaceLimit int, config *genericapiserver.Config) (storagequota.Initializer, error) {
	initializer := storagequota.Initializer{Shortage: shortageOf(etcd)}
	if namespaceLimit == 0 {
		return initializer, nil
	}
	initializer.MaxNamespaceBytes = namespaceLimit
	initializer.Usage = storagequota.NewUsage(clock.RealClock{})
	err := config.AddPostStartHook(namespaceUsageHook, func(hook genericapiserver.PostStartHookContext) error {
		return startCounting(hook, hook.LoopbackClientConfig, initializer.Usage)
	})
	return initializer, err
}

// startCounting lets the usage follow the boxes until ctx is done.
func startCounting(ctx context.Context, config *rest.Config, usage *storagequota.Usage) error {
	config = rest.AddUserAgent(rest.CopyConfig(config), "namespace-usage")
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client of this server's boxes: %w", err)
	}
	boxes := client.ModelV1().ModelBoxes(metav1.NamespaceAll)
	source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return boxes.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return boxes.Watch(ctx, options)
		},
	}, client)
	reflector := cache.NewReflectorWithOptions(source, &modelv1.ModelBox{}, usage, cache.ReflectorOptions{Name: namespaceUsageHook})
	go reflector.RunWithContext(ctx)
	return nil
}
