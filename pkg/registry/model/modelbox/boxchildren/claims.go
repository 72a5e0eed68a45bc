// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ClaimSizes returns, by the name of the storage of the box, the most that one of its claims requests. There is none for storage
// without claims. It costs one request.
func (r *Reader) ClaimSizes(ctx context.Context, box *modelv1.ModelBox) (map[string]resource.Quantity, error) {
	claims, err := r.client.CoreV1().PersistentVolumeClaims(box.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box.Name}).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the PersistentVolumeClaims of %s: %w", box.Name, err)
	}
	sizes := map[string]resource.Quantity{}
	for i := range box.Spec.Storage {
		storage := box.Spec.Storage[i].Name
		for j := range claims.Items {
			claim := &claims.Items[j]
			request := claim.Spec.Resources.Requests[corev1.ResourceStorage]
			if largest, found := sizes[storage]; isOfStorage(box, storage, claim.Name) && (!found || request.Cmp(largest) > 0) {
				sizes[storage] = request
			}
		}
	}
	return sizes, nil
}

// isOfStorage returns whether a claim of that name is of the storage of the box.
func isOfStorage(box *modelv1.ModelBox, storage, claim string) bool {
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		return helper.IsPodClaimName(claim, box.Name, storage)
	}
	return claim == helper.ClaimName(box.Name, storage)
}
