// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

// fencedSink drops the events that a fence refuses, which the broadcaster would try again and again, and those in a namespace
// that goes or has gone: there may be thousands, and the broadcaster would log a line for each.
type fencedSink struct {
	events.EventSink
}

// Create creates the event, or drops it and returns nil.
func (s *fencedSink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	created, err := dropRefused(s.EventSink.Create(ctx, event))
	if isNamespaceGone(err) {
		return nil, nil
	}
	return created, err
}

// Patch changes the event, or drops the change and returns nil.
func (s *fencedSink) Patch(ctx context.Context, event *eventsv1.Event, patch []byte) (*eventsv1.Event, error) {
	return dropRefused(s.EventSink.Patch(ctx, event, patch))
}

func dropRefused(event *eventsv1.Event, err error) (*eventsv1.Event, error) {
	if errors.Is(err, leaderelection.ErrNotLeading) {
		return nil, nil
	}
	return event, err
}

// isNamespaceGone returns whether nothing can be created in the namespace, which is being deleted or is not there.
func isNamespaceGone(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	isMissing := apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces"
	return isMissing || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
