// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// A deletion waits so long, and looks so often, for the controller to release the claims that the box retains.
const (
	releasePatience = time.Second
	releaseInterval = 50 * time.Millisecond
)

// Delete deletes a box. It is 409 as long as the garbage collector would delete claims that the box retains, because the controller
// has not released them yet.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	deadline := time.After(releasePatience)
	for {
		deletion := &releasedDeletion{validate: validate, isOrphaning: isOrphaning(options)}
		object, isDeleted, err := r.Store.Delete(ctx, name, deletion.Validate, options.DeepCopy())
		if err == nil || !deletion.isRefused.Load() {
			return object, isDeleted, err
		}
		select {
		case <-ctx.Done():
			return object, isDeleted, err
		case <-deadline:
			return object, isDeleted, err
		case <-time.After(releaseInterval):
		}
	}
}

// DeleteCollection deletes the boxes of a list. It does not wait for one that Delete would wait for.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, listOptions *metainternalversion.ListOptions) (runtime.Object, error) {
	deletion := &releasedDeletion{validate: validate, isOrphaning: isOrphaning(options)}
	return r.Store.DeleteCollection(ctx, deletion.Validate, options, listOptions)
}

// isOrphaning returns whether the garbage collector leaves the claims of the box alone.
func isOrphaning(options *metav1.DeleteOptions) bool {
	return options != nil && (ptr.Deref(options.PropagationPolicy, "") == metav1.DeletePropagationOrphan || ptr.Deref(options.OrphanDependents, false)) //nolint:staticcheck // The API still takes it.
}

// releasedDeletion is the deletion of boxes whose retained claims are released.
type releasedDeletion struct {
	validate    rest.ValidateObjectFunc
	isOrphaning bool
	// isRefused says that there was a box whose claims are not.
	isRefused atomic.Bool
}

// Validate is rest.ValidateObjectFunc.
func (d *releasedDeletion) Validate(ctx context.Context, obj runtime.Object) error {
	if d.validate != nil {
		if err := d.validate(ctx, obj); err != nil {
			return err
		}
	}
	box, isBox := obj.(*model.ModelBox)
	if !isBox || d.isOrphaning || box.DeletionTimestamp != nil || len(box.Status.UnreleasedStorage) == 0 {
		return nil
	}
	d.isRefused.Store(true)
	return apierrors.NewConflict(model.Resource("modelboxes"), box.Name, fmt.Errorf(
		"the claims of storage %s would be deleted, which is retained: the controller has not released them yet; try again, or set retain to false",
		strings.Join(box.Status.UnreleasedStorage, ", ")))
}
