// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// recordEvent records about the box what the user of the request has done with it. The note has a %q for the name of the user.
// Without a recorder nothing is recorded.
func recordEvent(ctx context.Context, recorder events.EventRecorder, box *model.ModelBox, reason, action, note string) {
	served, err := asServed(box)
	if err != nil || recorder == nil {
		return
	}
	served.SetGroupVersionKind(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	var name string
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		name = user.GetName()
	}
	recorder.Eventf(served, nil, corev1.EventTypeNormal, reason, action, note, name)
}
