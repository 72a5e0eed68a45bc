// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// withLogs returns a context with a logger, and a function that returns its messages.
func withLogs(t *testing.T, ctx context.Context) (context.Context, func() []string) {
	t.Helper()
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	underlier, isTesting := logger.GetSink().(ktesting.Underlier)
	if !isTesting {
		t.Fatal("the logger keeps no messages")
	}
	return klog.NewContext(ctx, logger), func() []string {
		var messages []string
		for _, entry := range underlier.GetBuffer().Data() {
			messages = append(messages, entry.Message)
		}
		return messages
	}
}
