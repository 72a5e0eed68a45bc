// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package nospace tells clients that a storage has no room, in place of the error of etcd that a request ends with
// otherwise.
package nospace

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonInsufficientStorage is the reason of the status with which writes are refused that there is no room for.
const ReasonInsufficientStorage metav1.StatusReason = "InsufficientStorage"

// retryAfterSeconds is short, for what fills a storage is often history, which is gone after a moment. Clients of
// Kubernetes try again ten times before they show the error.
const retryAfterSeconds = 1

// NewError returns the status for a write that there is no room for: 507, with the message.
func NewError(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInsufficientStorage,
		Reason:  ReasonInsufficientStorage,
		Message: message,
		Details: &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds},
	}}
}
