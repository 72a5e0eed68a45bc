// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
)

func TestRunUntilDoneTriesAgainWhereACacheHasNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begin, tries := time.Now(), 0
		err := RunUntilDone(ctx, 15*time.Second, func(context.Context) error {
			if tries++; tries == 3 {
				stop()
			}
			return fmt.Errorf("starting: %w", cachehealth.ErrCacheNotSynced)
		})
		if err != nil || tries != 3 || time.Since(begin) != 30*time.Second {
			t.Errorf("%d tries in %s ended with %v", tries, time.Since(begin), err)
		}
	})
}

func TestRunUntilDoneReturnsAnyOtherError(t *testing.T) {
	broken := errors.New("no index")
	if err := RunUntilDone(t.Context(), time.Minute, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}
