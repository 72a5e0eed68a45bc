// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package nospace returns 507 Insufficient Storage to clients if the storage is full, instead of an internal error with the error
// of etcd.
package nospace

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonInsufficientStorage is the reason in the status of writes that the server refuses because the storage is full.
const ReasonInsufficientStorage metav1.StatusReason = "InsufficientStorage"

// retryAfterSeconds is short, because a storage is often full of history, which is compacted after a moment. Kubernetes clients
// retry ten times before they return the error.
const retryAfterSeconds = 1

// NewError returns the error for a write to a full storage: status 507 with the message.
func NewError(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInsufficientStorage,
		Reason:  ReasonInsufficientStorage,
		Message: message,
		Details: &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds},
	}}
}
