// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/operator"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

// createSettled creates boxes and returns when all of them have their children, and say so. It is not measured: custom resources
// have an operator with as many workers as the server has, until then.
func createSettled(ctx context.Context, r *runner.Run, api boxes.API, namespaces []string) (err error) {
	r.Say(fmt.Sprintf("  creating %d boxes and their children in %s", r.Size, api.Name))
	if api == boxes.CRD {
		stop, err := operator.Start(ctx, r.Testbed, operator.Options{Workers: ourWorkers})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	ready, err := awaitReady(ctx, r.Testbed, api, namespaces, r.Size)
	if err != nil {
		return err
	}
	if err := createBoxes(ctx, r.Testbed, api, newBoxes(namespaces, r.Size)); err != nil {
		return err
	}
	if err := <-ready; err != nil {
		return err
	}
	return expectChildren(ctx, r.Testbed, namespaces, r.Size)
}

// createBothSettled is createSettled of boxes of each side, in a namespace of its own.
func createBothSettled(ctx context.Context, r *runner.Run, ours, theirs string) error {
	for _, side := range []struct {
		api       boxes.API
		namespace string
	}{{boxes.ModelBox, ours}, {boxes.CRD, theirs}} {
		if err := boxes.CreateNamespace(ctx, r.Testbed, side.namespace); err != nil {
			return err
		}
		if err := createSettled(ctx, r, side.api, []string{side.namespace}); err != nil {
			return err
		}
	}
	return nil
}
