// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// clusterTimeout is how long a request waits for what it has to read from the cluster.
const clusterTimeout = 10 * time.Second

// Cluster is what the subresources of a box read from the cluster that its children are in.
type Cluster interface {
	// Live returns what decides about the children of the box beside that: the box's own objects, and those that it would take
	// over, of which mayGet says whether the user of the request may get the one of that name.
	Live(ctx context.Context, box *modelv1.ModelBox, mayGet func(resource schema.GroupVersionResource, name string) bool) (modelboxrender.Live, error)
	// Revisions returns what the cluster keeps of the revisions of the workload of the box, the oldest first.
	Revisions(ctx context.Context, box *modelv1.ModelBox) ([]modelboxrender.Revision, error)
	// Pods returns the pods of the box, in no order: those that its workload controls, and none that has nothing but its labels.
	Pods(ctx context.Context, box *modelv1.ModelBox) ([]corev1.Pod, error)
	// WatchPods returns what tells the pods of the box until ctx is done, those that come and go included. changed is called, at
	// any time and often, when it may tell something else than before.
	WatchPods(ctx context.Context, box *modelv1.ModelBox, changed func()) (pods func(context.Context) ([]corev1.Pod, error), err error)
	// PodUID returns the UID of the pod of that name, empty where there is none.
	PodUID(ctx context.Context, pod types.NamespacedName) (types.UID, error)
	// IsOrphaned returns whether the workload that has the name of the box exists without a controller.
	IsOrphaned(ctx context.Context, box *modelv1.ModelBox) (bool, error)
	// ClaimSizes returns, by the name of the storage of the box, the most that one of its claims requests. There is none for
	// storage without claims.
	ClaimSizes(ctx context.Context, box *modelv1.ModelBox) (map[string]resource.Quantity, error)
	// Known returns a rendered child without the fields that the cluster does not know. It sends no request.
	Known(child *unstructured.Unstructured) *unstructured.Unstructured
}

// ReadCluster reads from the cluster for a request. An error of the cluster becomes 503, with the reason: there is nothing
// wrong with the request.
func ReadCluster[T any](ctx context.Context, read func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	result, err := read(ctx)
	if err != nil {
		return result, apierrors.NewServiceUnavailable(fmt.Sprintf("asking the cluster: %v", err))
	}
	return result, nil
}
