// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func validateNetworkPolicy(policy *model.ModelBoxNetworkPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	return corevalidation.ValidateNetworkPolicySpec(&networkingv1.NetworkPolicySpec{
		PolicyTypes: policy.PolicyTypes,
		Ingress:     policy.Ingress,
		Egress:      policy.Egress,
	}, path)
}
