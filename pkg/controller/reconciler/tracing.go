// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
)

// instrumentation names what records the spans of reconciles.
const instrumentation = "github.com/sharelinuxs/modelbox-apiserver/pkg/controller"

// startSpan starts a trace of a reconcile, and returns a function that ends it. The tracer provider of the span in ctx records the
// trace. Requests with the returned context are part of the trace, here and in the API servers that answer them. The trace is not
// part of the trace of the write that caused the reconcile: there can be many such writes, or none, or one that another server
// answered. Both traces have the namespace and name of the object.
func startSpan(ctx context.Context, controller string, key types.NamespacedName) (context.Context, func(error)) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer(instrumentation)
	ctx, span := tracer.Start(ctx, "Reconcile "+controller, trace.WithNewRoot(), trace.WithAttributes(
		attribute.String("namespace", key.Namespace), attribute.String("name", key.Name)))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
