// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/x509"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// checkAPIService looks at how the cluster reaches the servers.
func (o *Options) checkAPIService(ctx context.Context) findings {
	const check = "APIService"
	apiService, err := o.apiServices.ApiregistrationV1().APIServices().Get(ctx, apiServiceName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return findings{failed(check, "%s not found: the server is not installed", apiServiceName)}
	case err != nil:
		return findings{unanswered(check, err)}
	case apiService.Spec.Service == nil:
		return findings{failed(check, "%s is served locally, as for a CustomResourceDefinition", apiServiceName)}
	}
	o.apiService = apiService
	service := apiService.Spec.Service
	var found findings
	condition := helper.GetAPIServiceConditionByType(apiService, apiregistrationv1.Available)
	switch {
	case condition == nil:
		found = append(found, failed(check, "%s has no condition Available yet", apiServiceName))
	case condition.Status != apiregistrationv1.ConditionTrue:
		found = append(found, failed(check, "not available: %s: %s", condition.Reason, condition.Message))
	default:
		found = append(found, fine(check, "available through Service %s/%s", service.Namespace, service.Name))
	}
	if apiService.Spec.InsecureSkipTLSVerify {
		return append(found, warning(check, "spec.insecureSkipTLSVerify is true: the cluster does not verify the certificates of the servers"))
	}
	return append(found, o.checkBundle(apiService.Spec.CABundle)...)
}

// checkBundle looks at the CAs that the cluster trusts. One that has expired does no harm beside another one.
func (o *Options) checkBundle(bundle []byte) findings {
	const check = "Trusted CA"
	if len(bundle) == 0 {
		return findings{warning(check, "spec.caBundle is empty: the certificates of the servers must be signed by a CA that the nodes of the cluster trust")}
	}
	authorities, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		return findings{failed(check, "spec.caBundle: %v", err)}
	}
	var latest *x509.Certificate
	for _, authority := range authorities {
		if latest == nil || authority.NotAfter.After(latest.NotAfter) {
			latest = authority
		}
	}
	return findings{certificateFinding(check, "latest of "+count(int64(len(authorities)), "CA", "CAs"), latest.NotBefore, latest.NotAfter, o.clock.Now())}
}
