// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// apiServiceStore reads and writes the APIService of the servers.
type apiServiceStore struct {
	client aggregator.Interface
	name   string
}

// read returns the APIService, nil if it does not exist or is local. The cluster creates a local APIService while a
// CustomResourceDefinition serves the group.
func (s *apiServiceStore) read(ctx context.Context) (*apiregistrationv1.APIService, error) {
	apiService, err := s.client.ApiregistrationV1().APIServices().Get(ctx, s.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading APIService %s: %w", s.name, err)
	case apiService.Spec.Service == nil:
		return nil, nil
	}
	return apiService, nil
}

// trusts returns whether the cluster trusts exactly the CAs of the bundle for requests through the APIService.
func trusts(apiService *apiregistrationv1.APIService, bundle []byte) bool {
	return bytes.Equal(apiService.Spec.CABundle, bundle) && !apiService.Spec.InsecureSkipTLSVerify
}

// write makes the cluster trust exactly the CAs of the bundle. It returns a conflict if the APIService has changed since it was
// read.
func (s *apiServiceStore) write(ctx context.Context, read *apiregistrationv1.APIService, bundle []byte) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": read.ResourceVersion},
		"spec":     map[string]any{"caBundle": bundle, "insecureSkipTLSVerify": false},
	})
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	if _, err := s.client.ApiregistrationV1().APIServices().Patch(ctx, s.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}); err != nil {
		return fmt.Errorf("writing the caBundle of APIService %s: %w", s.name, err)
	}
	return nil
}
