// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// unwrittenStatuses remembers the statuses that are put off, so that their contents are not lost: which components were ready, and
// since when other components have come no nearer. They are lost with the process.
type unwrittenStatuses struct {
	mu       sync.Mutex
	statuses map[types.NamespacedName]unwrittenStatus
}

type unwrittenStatus struct {
	uid    types.UID
	status modelv1.ModelStackStatus
}

func newUnwrittenStatuses() *unwrittenStatuses {
	return &unwrittenStatuses{statuses: map[types.NamespacedName]unwrittenStatus{}}
}

// remember takes note of a status that is put off. It must not be changed afterwards.
func (u *unwrittenStatuses) remember(stack *modelv1.ModelStack, status modelv1.ModelStackStatus) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.statuses[keyOf(stack)] = unwrittenStatus{stack.UID, status}
}

// last returns the newest status of the stack, which is the one that it has unless another is put off.
func (u *unwrittenStatuses) last(stack *modelv1.ModelStack) *modelv1.ModelStackStatus {
	u.mu.Lock()
	defer u.mu.Unlock()
	if unwritten, ok := u.statuses[keyOf(stack)]; ok && unwritten.uid == stack.UID {
		return &unwritten.status
	}
	return &stack.Status
}

// forget drops what was remembered of a stack whose status has been written, or which is gone.
func (u *unwrittenStatuses) forget(stack types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.statuses, stack)
}
