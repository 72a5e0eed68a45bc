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

// apiServiceStore is the APIService by which the cluster reaches the servers.
type apiServiceStore struct {
	client aggregator.Interface
	name   string
}

// read returns the APIService, nil where there is none, or where it is not one that leads to a server: the cluster makes
// such a one by itself while a CustomResourceDefinition serves the group.
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

// trusts returns whether the cluster trusts these CAs, and no others, when it reaches the servers by the APIService.
func trusts(apiService *apiregistrationv1.APIService, bundle []byte) bool {
	return bytes.Equal(apiService.Spec.CABundle, bundle) && !apiService.Spec.InsecureSkipTLSVerify
}

// write lets the cluster trust these CAs and no others. It returns a conflict where the APIService is not any more as it was
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
