// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sizelimit

import (
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TooLargeError is returned for a write of an object that is too large. Clients get the status 413. The handlers of
// k8s.io/apiserver treat it like the error "request is too large" of etcd: they retry a create, an update or a patch without
// managed fields before they return it.
type TooLargeError struct {
	status metav1.Status
}

var _ apierrors.APIStatus = &TooLargeError{}

func newTooLargeError(message string) *TooLargeError {
	return &TooLargeError{apierrors.NewRequestEntityTooLargeError(message).Status()}
}

// Error returns the message that the handlers expect.
func (*TooLargeError) Error() string { return rpctypes.ErrRequestTooLarge.Error() }

// Code returns the gRPC code that the handlers expect.
func (*TooLargeError) Code() codes.Code { return codes.InvalidArgument }

// Status returns the status for clients: 413, with the limit and the size of the object.
func (e *TooLargeError) Status() metav1.Status { return e.status }
