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

// clusterTimeout is how long a request waits for its reads from the cluster.
const clusterTimeout = 10 * time.Second

// ChildReader reads the children and the pods of a box from the host cluster, for the subresources of the box.
type ChildReader interface {
	// Live returns the objects that the render of the box depends on: its workload and its claims. It leaves out objects that the
	// box would only take over, unless mayGet says that the user of the request may get the object of that name.
	Live(ctx context.Context, box *modelv1.ModelBox, mayGet func(resource schema.GroupVersionResource, name string) bool) (modelboxrender.Live, error)
	// Revisions returns the revisions of the workload of the box that the cluster keeps, the oldest first.
	Revisions(ctx context.Context, box *modelv1.ModelBox) ([]modelboxrender.Revision, error)
	// Pods returns the pods that the workload of the box controls, in no order. A pod that only has the labels is not one of them.
	Pods(ctx context.Context, box *modelv1.ModelBox) ([]corev1.Pod, error)
	// WatchPods returns a function that returns the current pods of the box until ctx is done. WatchPods calls changed, at any
	// time and often, when the function may return other pods than before.
	WatchPods(ctx context.Context, box *modelv1.ModelBox, changed func()) (pods func(context.Context) ([]corev1.Pod, error), err error)
	// PodUID returns the UID of the pod of that name, or an empty one if there is no such pod.
	PodUID(ctx context.Context, pod types.NamespacedName) (types.UID, error)
	// IsOrphaned returns whether the workload that has the name of the box exists without a controller.
	IsOrphaned(ctx context.Context, box *modelv1.ModelBox) (bool, error)
	// ClaimSizes returns the largest request of the claims of each storage of the box, by the name of the storage. Storage
	// without claims has no entry.
	ClaimSizes(ctx context.Context, box *modelv1.ModelBox) (map[string]resource.Quantity, error)
	// Known returns a rendered child without the fields that the cluster does not know. It sends no request.
	Known(child *unstructured.Unstructured) *unstructured.Unstructured
}

// ReadCluster reads from the cluster for a request. An error of the cluster becomes 503, with the reason: the request itself is
// valid.
func ReadCluster[T any](ctx context.Context, read func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	result, err := read(ctx)
	if err != nil {
		return result, apierrors.NewServiceUnavailable(fmt.Sprintf("asking the cluster: %v", err))
	}
	return result, nil
}
