// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// problem is why a Service does not have the Ingress that it asks for: the reason of an event and its note.
type problem struct{ reason, text string }

// problemRecord remembers the problem of each Service that was reported last. It is lost with the process, and then a
// problem that lasts is reported once more.
type problemRecord struct {
	mu       sync.Mutex
	problems map[types.NamespacedName]reportedProblem
}

type reportedProblem struct {
	service types.UID
	problem problem
}

func newProblemRecord() *problemRecord {
	return &problemRecord{problems: map[types.NamespacedName]reportedProblem{}}
}

// isNew takes note of the problem of a Service, and returns whether it is another one than before.
func (r *problemRecord) isNew(service metav1.Object, p problem) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	reported := reportedProblem{service.GetUID(), p}
	if r.problems[keyOf(service)] == reported {
		return false
	}
	r.problems[keyOf(service)] = reported
	return true
}

// forget drops the problem of a Service that no longer has one, or is gone.
func (r *problemRecord) forget(service types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.problems, service)
}
