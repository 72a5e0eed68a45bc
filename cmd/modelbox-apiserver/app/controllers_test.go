// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
)

// Whatever else it did, it would need a server, its configuration or its store.
func TestAddControllersAddsNothingWhereNoneIsEnabled(t *testing.T) {
	allButThem := []string{"*"}
	for _, name := range controller.KnownControllers() {
		allButThem = append(allButThem, "-"+name)
	}
	for _, controllers := range [][]string{{"-modelbox"}, allButThem, nil} {
		t.Run(fmt.Sprint(controllers), func(t *testing.T) {
			o := options.NewForRegistry(basecompatibility.NewComponentGlobalsRegistry())
			o.Controllers.Controllers = controllers
			if err := addControllers(t.Context(), nil, nil, o, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunUntilDoneTriesAgainWhereACacheHasNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begin, tries := time.Now(), 0
		err := runUntilDone(ctx, 15*time.Second, func(context.Context) error {
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
	if err := runUntilDone(t.Context(), time.Minute, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}
