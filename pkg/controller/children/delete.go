// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// Owned returns the children that the owner controls as the caches have them, those that are being deleted included. They
// may be the caches' own and must not be changed.
func (e *Engine[O]) Owned(owner O) ([]Object, error) {
	var owned []Object
	for _, kind := range e.Kinds {
		controlled, err := kind.controlledBy(e.ownerIndex(), apply.IDOf(owner))
		if err != nil {
			return nil, err
		}
		owned = append(owned, controlled...)
	}
	return owned, nil
}

// Delete deletes the children of an owner that is being deleted, but for those that are to be held and those that are being
// deleted already. It asks nothing of what the owner says.
func (e *Engine[O]) Delete(ctx context.Context, owner O, hold Hold) error {
	var errs []error
	for _, kind := range e.Kinds {
		controlled, err := kind.controlledBy(e.ownerIndex(), apply.IDOf(owner))
		if err != nil {
			return err
		}
		for _, live := range controlled {
			s := apply.Step{Operation: apply.Delete, Kind: &kind.Kind, Live: live}
			if live.GetDeletionTimestamp() != nil || hold(&s) {
				continue
			}
			switch err := e.delete(ctx, owner, s, kind.propagation()); {
			case err == nil:
				e.childEventf(owner, &kind.Kind, live, corev1.EventTypeNormal, "Deleted"+kind.Name(), "Delete", "Deleted %s %s", kind.Name(), live.GetName())
			case !apierrors.IsNotFound(err):
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
