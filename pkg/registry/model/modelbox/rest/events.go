// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"

	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// recordEvent is subresource.RecordEvent about a box.
func recordEvent(ctx context.Context, recorder events.EventRecorder, box *model.ModelBox, reason, action, note string) {
	served, err := asServed(box)
	if err != nil {
		return
	}
	served.SetGroupVersionKind(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	subresource.RecordEvent(ctx, recorder, served, reason, action, note)
}
