// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/events"
)

// RecordEvent records about an object, in the version that is served, what the user of the request has done with it. The note has
// a %q for the name of the user. Without a recorder nothing is recorded.
func RecordEvent(ctx context.Context, recorder events.EventRecorder, served runtime.Object, reason, action, note string) {
	if recorder == nil {
		return
	}
	var name string
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		name = user.GetName()
	}
	recorder.Eventf(served, nil, corev1.EventTypeNormal, reason, action, note, name)
}
