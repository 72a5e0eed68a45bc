// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sizelimit

import (
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TooLargeError is the error of a write of an object that is too large. Clients see the status 413. The handlers of
// k8s.io/apiserver take it for etcd's "request is too large", and repeat a create, an update or a patch without managed
// fields before they return it.
type TooLargeError struct {
	status metav1.Status
}

var _ apierrors.APIStatus = &TooLargeError{}

func newTooLargeError(message string) *TooLargeError {
	return &TooLargeError{apierrors.NewRequestEntityTooLargeError(message).Status()}
}

// Error returns the text that the handlers look for.
func (*TooLargeError) Error() string { return rpctypes.ErrRequestTooLarge.Error() }

// Code returns the gRPC code that the handlers look for.
func (*TooLargeError) Code() codes.Code { return codes.InvalidArgument }

// Status returns what clients see: 413, with the limit and the size of the object.
func (e *TooLargeError) Status() metav1.Status { return e.status }
