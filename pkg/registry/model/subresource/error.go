// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// WithContext returns the error with a description of what failed in front of its message. Handlers respond with 500 to an error that
// only wraps an error of the API. Therefore an error of the API keeps its code and its reason.
func WithContext(description string, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Errorf("%s: %w", description, err)
	}
	described := &apierrors.StatusError{ErrStatus: status.Status()}
	described.ErrStatus.Message = description + ": " + described.ErrStatus.Message
	return described
}
