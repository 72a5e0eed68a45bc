// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// networkPolicyKind returns the NetworkPolicies of boxes as a kind of children.
func networkPolicyKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	return children.NewKind(modelboxapply.Kind(childkinds.NetworkPolicy), informer,
		func(namespace string) children.Client[*networkingv1.NetworkPolicy] {
			return cluster.NetworkingV1().NetworkPolicies(namespace)
		})
}
