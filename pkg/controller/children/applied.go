// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// appliedAnswers remembers the answer of the cluster to the last apply of each child. The answers are lost with the process.
// Finding one out again costs no request unless the child is not as it should be.
type appliedAnswers struct {
	mu      sync.Mutex
	answers map[types.NamespacedName]map[childName]appliedAnswer
}

// childName tells the children of an owner apart.
type childName struct{ kind, name string }

// appliedAnswer is the answer to an apply.
type appliedAnswer struct {
	uid types.UID
	// render is the hash of what was applied.
	render string
	// fingerprint identifies the fields that are ours since.
	fingerprint string
	// rejected are the fields that the answer lacked or had otherwise; nil is none.
	rejected *fieldpath.Set
	// isPartial says that fields were left out, which the cluster did not know.
	isPartial bool
	// kept is the version of the child that was last found to be as rendered, with all of its fields ours; empty is none.
	kept string
}

// rejectedFields returns the fields that the cluster does not take as the render has them. Of an answer that is not known,
// which is nil, there are none.
func (a *appliedAnswer) rejectedFields() *fieldpath.Set {
	if a == nil || a.rejected == nil {
		return fieldpath.NewSet()
	}
	return a.rejected
}

// isKept returns whether the child was found to be as rendered and has not changed since.
func (a *appliedAnswer) isKept(live Object) bool {
	return a != nil && a.kept != "" && a.kept == live.GetResourceVersion()
}

func newAppliedAnswers() *appliedAnswers {
	return &appliedAnswers{answers: map[types.NamespacedName]map[childName]appliedAnswer{}}
}

// remember takes note of the answer to the step.
func (a *appliedAnswers) remember(owner types.NamespacedName, s Step, answer appliedAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers[owner] == nil {
		a.answers[owner] = map[childName]appliedAnswer{}
	}
	a.answers[owner][childName{s.Kind.name(), s.Name()}] = answer
}

// keep takes note that the child of the step is as rendered.
func (a *appliedAnswers) keep(owner types.NamespacedName, s Step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := childName{s.Kind.name(), s.Name()}
	if answer, ok := a.answers[owner][name]; ok {
		answer.kept = s.live.GetResourceVersion()
		a.answers[owner][name] = answer
	}
}

// find returns the answer of the cluster to the apply of exactly this render to exactly this child. It returns nil if the answer is
// unknown, or if the cluster did not know some fields then and knows them now.
func (a *appliedAnswers) find(owner types.NamespacedName, s Step) *appliedAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.answers[owner][childName{s.Kind.name(), s.Name()}]
	if !ok || answer.uid != s.live.GetUID() || answer.render != render.Hash(s.rendered) {
		return nil
	}
	if answer.isPartial && s.Kind.known(s.rendered) == s.rendered {
		return nil
	}
	return &answer
}

// forget drops the answers about the children of an owner that is gone.
func (a *appliedAnswers) forget(owner types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answers, owner)
}
