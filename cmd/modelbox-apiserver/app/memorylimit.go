// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"k8s.io/klog/v2"
)

const (
	// memoryLimitRatio is the part of the memory limit of the container that the Go runtime keeps to. The rest is for memory
	// that the runtime does not count, such as the pages of the program and of the files of the embedded etcd.
	memoryLimitRatio = 0.9
	// memoryLimitRefresh is how often the limit is read again. A pod can be resized in place.
	memoryLimitRefresh = time.Minute
)

// limitMemory lets the Go runtime collect garbage more often as the process approaches the memory limit that provider returns, so
// that the kernel need not kill the process. It follows the limit until ctx is done. The environment variable GOMEMLIMIT takes
// precedence. Without a limit, or where it cannot be read, the runtime has none.
func limitMemory(ctx context.Context, provider memlimit.Provider) {
	logger := klog.FromContext(ctx)
	limit, err := memlimit.Set(
		memlimit.WithProvider(provider),
		memlimit.WithRatio(memoryLimitRatio),
		memlimit.WithRefreshInterval(ctx, memoryLimitRefresh),
	)
	if err != nil {
		logger.Error(err, "Cannot read the memory limit of the container")
		return
	}
	logger.V(2).Info("Set the memory limit of the Go runtime", "bytes", limit)
}
