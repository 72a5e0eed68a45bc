// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// appliedRecord remembers what the cluster answered when a child was last applied. It is lost with the process, and
// costs no request to find out anew unless something is not as it should be.
type appliedRecord struct {
	mu       sync.Mutex
	children map[types.NamespacedName]map[childName]appliedChild
}

// childName tells the children of a box apart.
type childName struct{ kind, name string }

// appliedChild is the answer to an apply.
type appliedChild struct {
	uid types.UID
	// render is the hash of what was applied.
	render string
	// fingerprint identifies the fields that are ours since.
	fingerprint string
	// rejected are the fields that the answer lacked or had otherwise.
	rejected *fieldpath.Set
}

func newAppliedRecord() *appliedRecord {
	return &appliedRecord{children: map[types.NamespacedName]map[childName]appliedChild{}}
}

// remember takes note of the answer to the step.
func (r *appliedRecord) remember(box *modelv1.ModelBox, s step, answer appliedChild) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(box)
	if r.children[key] == nil {
		r.children[key] = map[childName]appliedChild{}
	}
	r.children[key][nameOf(s)] = answer
}

// answer returns what the cluster answered to the apply of this very render to this very child, false where that is
// not known.
func (r *appliedRecord) answer(box *modelv1.ModelBox, s step) (appliedChild, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer, ok := r.children[keyOf(box)][nameOf(s)]
	return answer, ok && answer.uid == s.live.GetUID() && answer.render == render.Hash(s.rendered)
}

// rejected returns the fields that the cluster does not take as this render has them.
func (r *appliedRecord) rejected(box *modelv1.ModelBox, s step) *fieldpath.Set {
	if answer, ok := r.answer(box, s); ok && answer.rejected != nil {
		return answer.rejected
	}
	return noFields()
}

// forget drops what was remembered of the children of a box that is gone.
func (r *appliedRecord) forget(box types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.children, box)
}

func nameOf(s step) childName { return childName{s.kind.kind.Kind, s.rendered.GetName()} }
