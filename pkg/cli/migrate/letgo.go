// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// collectorPatience is how long the garbage collector may orphan no children before the command does so in its place. After the
// group has moved to the server, the garbage collector may watch the custom resources for minutes more, and see no box of the
// server.
const collectorPatience = 30 * time.Second

// awaitGone waits until boxes that were deleted are gone, and their children have no owner.
func (r *rollbackOptions) awaitGone(ctx context.Context, deleted []*modelv1.ModelBox) error {
	left, err := r.awaitCollector(ctx, deleted)
	if err != nil || len(left) == 0 {
		return err
	}
	r.say("the garbage collector does not orphan the children of %d boxes, such as %s: orphaning them instead", len(left), left[0])
	if err := r.clients.addChildren(ctx, left); err != nil {
		return err
	}
	if err := inParallel(ctx, left, r.letGo); err != nil {
		return fmt.Errorf("%w; run the command again", err)
	}
	return r.await(ctx, "the deletion of the boxes of the server", func(ctx context.Context) (bool, string, error) {
		left, err := r.notGone(ctx, deleted)
		if err != nil || len(left) == 0 {
			return err == nil, "", err
		}
		return false, fmt.Sprintf("%d still have finalizers, such as %s", len(left), left[0]), nil
	})
}

// awaitCollector returns the boxes that are not gone after the garbage collector has orphaned the children of none for
// collectorPatience.
func (r *rollbackOptions) awaitCollector(ctx context.Context, deleted []*modelv1.ModelBox) (left []*exportedBox, err error) {
	count, since := -1, time.Now()
	err = wait.PollUntilContextCancel(ctx, adopt.PollInterval, true, func(ctx context.Context) (bool, error) {
		if left, err = r.notGone(ctx, deleted); err != nil {
			return false, err
		}
		if len(left) != count {
			count, since = len(left), time.Now()
		}
		return count == 0 || time.Since(since) >= r.collectorPatience, nil
	})
	return left, err
}

// notGone returns the deleted boxes that the server still has.
func (r *rollbackOptions) notGone(ctx context.Context, deleted []*modelv1.ModelBox) ([]*exportedBox, error) {
	list, err := r.clients.boxes.ModelV1().ModelBoxes(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the boxes of the server: %w", err)
	}
	uids := sets.New[types.UID]()
	for _, box := range deleted {
		uids.Insert(box.UID)
	}
	var left []*exportedBox
	for i := range list.Items {
		if box := &list.Items[i]; uids.Has(box.UID) {
			left = append(left, &exportedBox{Namespace: box.Namespace, Name: box.Name, UID: box.UID})
		}
	}
	return left, nil
}

// letGo does what the garbage collector does about a box that was deleted so that its children stay: it takes the box from
// their owners, and then its finalizer from the box.
func (r *rollbackOptions) letGo(ctx context.Context, box *exportedBox) error {
	if err := r.orphan(ctx, box); err != nil {
		return err
	}
	client := r.clients.boxes.ModelV1().ModelBoxes(box.Namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := client.Get(ctx, box.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && live.UID != box.UID {
			return nil
		}
		if err != nil {
			return err
		}
		finalizers := slices.DeleteFunc(slices.Clone(live.Finalizers), func(name string) bool { return name == metav1.FinalizerOrphanDependents })
		data, err := adopt.Patch(box.UID, map[string]any{"metadata": map[string]any{"finalizers": finalizers, "resourceVersion": live.ResourceVersion}})
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, box.Name, types.MergePatchType, data, r.patchOptions())
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("orphaning the children of box %s: %w", box, err)
	}
	return nil
}
