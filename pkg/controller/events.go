// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

// fencedSink drops the events that a fence refuses. The broadcaster would try each of them again and again, with a
// line in the log every time.
type fencedSink struct {
	events.EventSink
}

// Create creates the event, or drops it and returns nil.
func (s *fencedSink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return dropRefused(s.EventSink.Create(ctx, event))
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
