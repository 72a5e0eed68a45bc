// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// PollInterval is how often Await looks.
const PollInterval = 200 * time.Millisecond

// Await polls until check returns true. Its error names what it waited for, and the last obstacle that check returned.
func Await(ctx context.Context, timeout time.Duration, what string, check func(context.Context) (done bool, obstacle string, err error)) error {
	var obstacle string
	err := wait.PollUntilContextTimeout(ctx, PollInterval, timeout, true, func(ctx context.Context) (done bool, err error) {
		done, obstacle, err = check(ctx)
		return done, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("timed out after %s waiting for %s: %s", timeout, what, obstacle)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// AwaitApplied returns a box as soon as its children are what it says.
func AwaitApplied(ctx context.Context, client modelclient.ModelBoxInterface, timeout time.Duration, what, name string) (box *modelv1.ModelBox, err error) {
	err = Await(ctx, timeout, what, func(ctx context.Context) (_ bool, _ string, err error) {
		if box, err = client.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, "", err
		}
		applied := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied)
		if applied == nil {
			return false, "the controller has not seen it yet", nil
		}
		isCurrent := box.Status.ObservedGeneration >= box.Generation
		return isCurrent && applied.Status == metav1.ConditionTrue, applied.Message, nil
	})
	return box, err
}
