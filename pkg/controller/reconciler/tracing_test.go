// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
)

func TestEachReconcileIsATrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ctx, leading := provider.Tracer("test").Start(t.Context(), "leading")

	reconcile, end := startSpan(ctx, "modelbox", types.NamespacedName{Namespace: "shop", Name: "web"})
	_, request := trace.SpanFromContext(reconcile).TracerProvider().Tracer("test").Start(reconcile, "request")
	request.End()
	end(nil)
	_, end = startSpan(ctx, "modelbox", types.NamespacedName{Namespace: "shop", Name: "db"})
	end(errors.New("refused"))

	spans := recorder.Ended()
	if len(spans) != 3 {
		t.Fatalf("got %d spans, want 3", len(spans))
	}
	child, web, db := spans[0], spans[1], spans[2]
	if child.Parent().SpanID() != web.SpanContext().SpanID() || child.SpanContext().TraceID() != web.SpanContext().TraceID() {
		t.Error("a request of a reconcile is not part of its trace")
	}
	for _, span := range []sdktrace.ReadOnlySpan{web, db} {
		if span.Name() != "Reconcile modelbox" || span.Parent().IsValid() {
			t.Errorf("a reconcile is %q below %v, want a trace of its own", span.Name(), span.Parent())
		}
		if span.SpanContext().TraceID() == leading.SpanContext().TraceID() {
			t.Error("a reconcile is part of the trace of leading")
		}
	}
	if web.SpanContext().TraceID() == db.SpanContext().TraceID() {
		t.Error("two reconciles are one trace")
	}
	if web.Status().Code != codes.Unset || db.Status().Code != codes.Error || db.Status().Description != "refused" {
		t.Errorf("got status %v of a success, and %v of a failure", web.Status(), db.Status())
	}
	want := attribute.NewSet(attribute.String("namespace", "shop"), attribute.String("name", "web"))
	if got := attribute.NewSet(web.Attributes()...); got != want {
		t.Errorf("got attributes %v", web.Attributes())
	}
}

func TestNothingIsTracedWithoutAProvider(t *testing.T) {
	ctx, end := startSpan(t.Context(), "modelbox", types.NamespacedName{Namespace: "shop", Name: "web"})
	end(nil)
	if trace.SpanFromContext(ctx).SpanContext().IsValid() {
		t.Error("a reconcile has a span that is not recorded")
	}
}
