// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// NewListerWatcher lists and watches one box or stack.
func NewListerWatcher(client versioned.Interface, resource string, object metav1.Object) cache.ListerWatcher {
	return cache.NewListWatchFromClient(client.ModelV1().RESTClient(), resource, object.GetNamespace(),
		fields.OneTermEqualSelector("metadata.name", object.GetName()))
}

// Until calls the function with each state of a box or a stack, until it returns true or an error. A deletion is an error.
func Until(ctx context.Context, client versioned.Interface, resource string, object Object, condition func(runtime.Object) (bool, error)) error {
	name := resource + "/" + object.GetName()
	deleted := fmt.Errorf("%s was deleted", name)
	_, err := watchtools.UntilWithSync(ctx, NewListerWatcher(client, resource, object), object, func(store cache.Store) (bool, error) {
		if len(store.ListKeys()) == 0 {
			return false, deleted
		}
		return false, nil
	}, func(event watch.Event) (bool, error) {
		switch event.Type {
		case watch.Deleted:
			return false, deleted
		case watch.Error:
			return false, fmt.Errorf("watching %s: %v", name, event.Object)
		}
		return condition(event.Object)
	})
	return err
}
