// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// byOrphan indexes the records that have lost their owner by the stack that they are of.
const byOrphan = "orphanedRecord"

// stackOfOrphan returns the stack that a record is of which has lost its owner. It is false for any other object.
func stackOfOrphan(record metav1.Object) (types.NamespacedName, bool) {
	name := record.GetLabels()[modelv1.StackLabel]
	if metav1.GetControllerOfNoCopy(record) != nil || !modelstackrender.IsRecordName(record.GetName(), name) {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: record.GetNamespace(), Name: name}, true
}

func orphanKeys(obj any) ([]string, error) {
	if key, ok := stackOfOrphan(obj.(metav1.Object)); ok {
		return []string{key.String()}, nil
	}
	return nil, nil
}

// deleteOrphanedRecords deletes the records of earlier stacks of the name. The garbage collector removes the owner from the record
// of a stack that is deleted and orphans its components. uid is the UID of the existing stack, empty if there is none.
func (c *Controller) deleteOrphanedRecords(ctx context.Context, stack types.NamespacedName, uid types.UID) error {
	found, err := c.orphans.ByIndex(byOrphan, stack.String())
	if err != nil {
		return fmt.Errorf("looking for orphaned records: %w", err)
	}
	var errs []error
	for _, obj := range found {
		record := obj.(*appsv1.ControllerRevision)
		if recorded, err := modelstackrender.ReadRecord(record); record.DeletionTimestamp != nil || err == nil && recorded.UID == uid {
			continue
		}
		_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, c.kubeClient.AppsV1().ControllerRevisions(record.Namespace).Delete(ctx, record.Name, metav1.DeleteOptions{
				Preconditions: &metav1.Preconditions{UID: ptr.To(record.UID), ResourceVersion: ptr.To(record.ResourceVersion)},
			})
		})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("deleting orphaned record %s: %w", record.Name, err))
		}
	}
	return errors.Join(errs...)
}
