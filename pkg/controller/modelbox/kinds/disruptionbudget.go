// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// disruptionBudgetKind returns the disruption budgets of boxes as a kind of children.
func disruptionBudgetKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	return children.NewKind(modelboxapply.Kind(childkinds.PodDisruptionBudget), informer,
		func(namespace string) children.Client[*policyv1.PodDisruptionBudget] {
			return cluster.PolicyV1().PodDisruptionBudgets(namespace)
		})
}
