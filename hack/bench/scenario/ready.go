// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	// readyTimeout is how long boxes may take.
	readyTimeout = 10 * time.Minute
	goneTimeout  = 10 * time.Minute
	pollInterval = 200 * time.Millisecond
)

// awaitReady watches the boxes of some namespaces. The channel gets nil as soon as so many of them are Ready, or why that is not
// going to happen.
func awaitReady(ctx context.Context, bed *testbed.Testbed, api boxes.API, namespaces []string, want int) (<-chan error, error) {
	boxClient, err := api.NewClient(bed.User)
	if err != nil {
		return nil, err
	}
	return await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return boxClient.Get().Resource(boxes.Resource).Param("watch", "true").Watch(ctx)
	}, namespaces, want, isReady, nil)
}

func isReady(box *modelv1.ModelBox) bool {
	condition := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == box.Generation
}

// removeAll removes the boxes of some namespaces and what they were about, and returns when all is gone.
func removeAll(ctx context.Context, bed *testbed.Testbed, api boxes.API, namespaces []string) error {
	for _, namespace := range namespaces {
		if err := remove(ctx, bed, api, namespace); err != nil {
			return err
		}
	}
	for _, namespace := range namespaces {
		if err := awaitRemoved(ctx, bed, namespace); err != nil {
			return err
		}
	}
	return nil
}

func remove(ctx context.Context, bed *testbed.Testbed, api boxes.API, namespace string) error {
	boxClient, err := api.NewClient(bed.User)
	if err != nil {
		return err
	}
	if err := boxClient.Delete().Namespace(namespace).Resource(boxes.Resource).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting boxes: %w", err)
	}
	if err := bed.Client.AppsV1().Deployments(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("deleting Deployments: %w", err)
	}
	return deleteServices(ctx, bed, namespace)
}

func awaitRemoved(ctx context.Context, bed *testbed.Testbed, namespace string) error {
	return wait.PollUntilContextTimeout(ctx, pollInterval, goneTimeout, true, func(ctx context.Context) (bool, error) {
		left, err := bed.Client.AppsV1().ReplicaSets(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return false, fmt.Errorf("listing ReplicaSets: %w", err)
		}
		return len(left.Items) == 0, nil
	})
}

// deleteServices deletes them one by one: there is no request for all of them.
func deleteServices(ctx context.Context, bed *testbed.Testbed, namespace string) error {
	services, err := bed.Client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Services: %w", err)
	}
	_, err = load.Run(ctx, fillClients, len(services.Items), func(ctx context.Context, _, i int) error {
		// The garbage collector may have been here before.
		return client.IgnoreNotFound(bed.Client.CoreV1().Services(namespace).Delete(ctx, services.Items[i].Name, metav1.DeleteOptions{}))
	})
	if err != nil {
		return fmt.Errorf("deleting Services: %w", err)
	}
	return nil
}
