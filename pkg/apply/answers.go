// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Answers remembers the answer of the cluster to the last apply of each child. The answers are lost with the process.
// Finding one out again costs no request unless the child is not as it should be. A nil pointer remembers nothing.
type Answers struct {
	mu      sync.Mutex
	answers map[types.NamespacedName]map[childName]answer
}

// childName tells the children of an owner apart.
type childName struct{ kind, name string }

// answer is the answer to an apply.
type answer struct {
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
func (a *answer) rejectedFields() *fieldpath.Set {
	if a == nil || a.rejected == nil {
		return fieldpath.NewSet()
	}
	return a.rejected
}

// isKept returns whether the child was found to be as rendered and has not changed since.
func (a *answer) isKept(live Object) bool {
	return a != nil && a.kept != "" && a.kept == live.GetResourceVersion()
}

// NewAnswers returns the Answers that know none.
func NewAnswers() *Answers {
	return &Answers{answers: map[types.NamespacedName]map[childName]answer{}}
}

// remember takes note of the answer to the step.
func (a *Answers) remember(owner types.NamespacedName, s Step, given answer) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers[owner] == nil {
		a.answers[owner] = map[childName]answer{}
	}
	a.answers[owner][childName{s.Kind.Name(), s.Name()}] = given
}

// keep takes note that the child of the step is as rendered.
func (a *Answers) keep(owner types.NamespacedName, s Step) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	name := childName{s.Kind.Name(), s.Name()}
	if answer, ok := a.answers[owner][name]; ok {
		answer.kept = s.Live.GetResourceVersion()
		a.answers[owner][name] = answer
	}
}

// find returns the answer of the cluster to the apply of exactly this render to exactly this child. It returns nil if the answer is
// unknown, or if the cluster did not know some fields then and knows them now.
func (a *Answers) find(owner types.NamespacedName, s Step) *answer {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.answers[owner][childName{s.Kind.Name(), s.Name()}]
	if !ok || answer.uid != s.Live.GetUID() || answer.render != render.Hash(s.Rendered) {
		return nil
	}
	if answer.isPartial && s.Kind.Configuration(s.Rendered) == s.Rendered {
		return nil
	}
	return &answer
}

// Forget drops the answers about the children of an owner that is gone.
func (a *Answers) Forget(owner types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answers, owner)
}

// Remember takes note of which fields are ours after the rendered child of the step was applied, and returns how the child differs
// from it all the same: in what the cluster did not take. A cluster drops fields of which the feature is off, and its admission
// webhooks may set others.
func (p *Planner[O]) Remember(owner O, s Step, applied Object) (*fields.Difference, error) {
	difference, err := p.Compare(s.Rendered, applied)
	if err != nil {
		return nil, err
	}
	if paths := p.ignoredPaths(owner, s.Kind); len(paths) > 0 {
		leaveOutOf(difference, covered(difference.Fields, paths), paths)
	}
	p.Answers.remember(KeyOf(owner), s, answer{
		uid:         applied.GetUID(),
		render:      render.Hash(s.Rendered),
		fingerprint: fields.Fingerprint(applied),
		rejected:    difference.Fields,
		isPartial:   s.Kind.Configuration(s.Rendered) != s.Rendered,
	})
	return difference, nil
}

// Rejected returns the fields that the cluster is known not to take as the step has them rendered.
func (p *Planner[O]) Rejected(owner O, s Step) *fieldpath.Set {
	return p.Answers.find(KeyOf(owner), s).rejectedFields()
}
