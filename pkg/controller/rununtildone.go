// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
)

// RunUntilDone runs the controllers again when they could not work because a cache has not synced, after a pause in which another
// server can take over. It returns nil when ctx is done, and any other error of run.
func RunUntilDone(ctx context.Context, pause time.Duration, run func(ctx context.Context) error) error {
	for {
		err := run(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, cachehealth.ErrCacheNotSynced):
			return fmt.Errorf("the controllers ended: %w", err)
		}
		klog.FromContext(ctx).Error(err, "The controllers cannot work; another server may, and this one tries again", "after", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
