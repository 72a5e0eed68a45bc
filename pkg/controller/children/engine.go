// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package children keeps the children of owners as the owners ask for. It renders the children of an owner, executes the steps that
// package apply plans to make the live children as rendered, and returns the result. It knows neither the kind of the owner nor the
// kinds of the children.
package children

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// Object is an owner or a child as the API has it. One that comes from a Kind carries its kind.
type Object = fields.Object

// Config is what an Engine needs to know about its owners and their children. Every field is required.
type Config[O Object] struct {
	apply.Owners[O]

	// GetOwner reads an owner from its API server and not from a cache.
	GetOwner func(ctx context.Context, namespace, name string) (O, error)
	// IsPaused returns whether the children of the owner are to stay as they are, but for the record of the owner.
	IsPaused func(owner O) bool
	// Render returns what the owner asks for, as server-side apply takes it, while these children are there. Each has the
	// namespace and a controller reference of the owner, and render.Hash.
	Render func(owner O, live Live) ([]*unstructured.Unstructured, error)

	// Kinds are the kinds of the children.
	Kinds []*Kind
	// TypeConverter knows the schemas of the children.
	TypeConverter managedfields.TypeConverter
	// Consistency records every write of a child.
	Consistency *consistency.Store
	// Enqueue is called for an owner that waited for a name, as soon as it may get further.
	Enqueue  func(owner types.NamespacedName)
	Recorder events.EventRecorder
	Metrics  Metrics
	Clock    clock.PassiveClock
}

// Metrics counts the writes of children and the restorations of drift.
type Metrics interface {
	// ChildWritten counts a write of a child of the kind. The operation is in lower case.
	ChildWritten(kind, operation string)
	// DriftRestored counts a child of the kind whose fields were restored after the field manager had changed them.
	DriftRestored(kind, manager string)
}

// Engine keeps the children of all owners of a kind. Its memory is lost with the process, which costs no more than a few requests.
// Several goroutines may use an Engine, but only one at a time for the same owner.
type Engine[O Object] struct {
	Config[O]

	planner *apply.Planner[O]
	compare *fields.Comparer
	// kinds are the Kinds by what planning knows of them.
	kinds     map[*apply.Kind]*Kind
	conflicts *conflictRecord
	taken     *takenNames
	// predecessors are children that were deleted to be created again.
	predecessors *predecessors
}

// NewEngine returns an Engine that remembers nothing.
func NewEngine[O Object](config Config[O]) *Engine[O] {
	compare, kinds := fields.NewComparer(config.TypeConverter), map[*apply.Kind]*Kind{}
	for _, kind := range config.Kinds {
		kinds[&kind.Kind] = kind
	}
	return &Engine[O]{
		Config:    config,
		planner:   &apply.Planner[O]{Owners: config.Owners, Comparer: compare, Answers: apply.NewAnswers()},
		compare:   compare,
		kinds:     kinds,
		conflicts: newConflictRecord(config.Clock),
		taken:     newTakenNames(config.Enqueue),

		predecessors: newPredecessors(),
	}
}

// kindOf returns the kind of the child of a step.
func (e *Engine[O]) kindOf(s apply.Step) *Kind { return e.kinds[s.Kind] }

// IgnoredDrift are fields of a child that other managers have set, and that are left as they are because the owner ignores them.
type IgnoredDrift struct {
	Kind, Name string
	// Fields is not empty.
	Fields *fieldpath.Set
}

// Result is what a reconcile of the children of an owner found and did.
type Result struct {
	// Rendered is what the owner asks for.
	Rendered []*unstructured.Unstructured
	// Pending are the kinds of the children that are not as rendered because the owner is paused.
	Pending []string
	// Failures are what keeps children from being as rendered.
	Failures []error
	// Ignored are the fields of children that other managers have set, and that are left as they are.
	Ignored []IgnoredDrift
	// RecheckAfter is after how long to requeue the owner because an object that does not belong to it has the name of a child and
	// is not watched; 0 if there is none. It does not include objects that are reported as failures: see the function RetryAfter.
	RecheckAfter time.Duration

	owned  []Object
	failed map[childName]error
	// unusable are the steps whose child is not there, or not as others need it.
	unusable []apply.Step
	hold     Hold
	// awaitsName says that another step follows once an object that does not belong to the owner is gone: a step that is held, or
	// the creation of a child in place of an object that is used.
	awaitsName bool
}

// Err returns all failures as one, nil if there are none.
func (r *Result) Err() error { return errors.Join(r.Failures...) }

// Child returns the child of the kind and name as it is after the reconcile, nil where there is none that belongs to the
// owner.
func (r *Result) Child(kind schema.GroupVersionKind, name string) Object {
	for _, child := range slices.Backward(r.owned) {
		if child.GetObjectKind().GroupVersionKind() == kind && child.GetName() == name {
			return child
		}
	}
	return nil
}

// Failure returns what keeps the child of the kind and name from being as rendered, nil where nothing does.
func (r *Result) Failure(kind, name string) error { return r.failed[childName{kind, name}] }

// Observed returns the child of the type and name as it is after the reconcile, nil where there is none that belongs to the
// owner.
func Observed[T Object](result *Result, name string) T {
	var observed T
	for _, object := range result.owned {
		if child, ok := object.(T); ok && child.GetName() == name {
			observed = child
		}
	}
	return observed
}

// childName tells the children of an owner apart.
type childName struct{ kind, name string }

// Hold returns whether a step is not to be taken yet. It is asked about every step that would change a child or report a
// failure, and again where the child turns out to be another than the cache has.
type Hold func(s *apply.Step) bool

// Reconcile brings the children of the owner nearer to what it asks for. A child that fails does not keep the others from
// being reconciled: what becomes of them is in the Result. The error is for an owner of which nothing could be planned.
func (e *Engine[O]) Reconcile(ctx context.Context, owner O) (*Result, error) {
	return e.ReconcileHolding(ctx, owner, func(*apply.Step) bool { return false })
}

// ReconcileHolding is Reconcile without the steps that are to be held. The children of those stay as they are.
func (e *Engine[O]) ReconcileHolding(ctx context.Context, owner O, hold Hold) (*Result, error) {
	steps, rendered, err := e.Plan(owner)
	if err != nil {
		return nil, err
	}
	result := &Result{Rendered: rendered, failed: map[childName]error{}, hold: hold}
	for _, s := range steps {
		child, err := e.reconcileChild(ctx, owner, s, result)
		if err != nil {
			result.Failures = append(result.Failures, err)
			result.failed[childName{s.Kind.Name(), s.Name()}] = err
			if !isPartial(err) && !servesAsItWas(s, err) {
				result.unusable = append(result.unusable, s)
			}
		}
		if child == nil && err != nil {
			child = s.Live
		}
		if child != nil && e.IsOwnedBy(child, owner) {
			result.owned = append(result.owned, child)
		}
	}
	if !result.awaitsName && !slices.ContainsFunc(result.Failures, isNotOwned) {
		e.taken.forget(apply.KeyOf(owner))
	}
	return result, nil
}

// Forget drops what is remembered of an owner that is gone or going.
func (e *Engine[O]) Forget(owner types.NamespacedName) {
	e.planner.Answers.Forget(owner)
	e.taken.forget(owner)
	e.predecessors.forget(owner)
}

// Wait returns when no watch is left. The watches end with the contexts that Reconcile was called with.
func (e *Engine[O]) Wait() { e.taken.wait() }

// childEventf records an event about the owner and about this version of a child. reason names what happened, action what was done.
// A broadcaster takes events that differ only in their notes for one event that happened several times, and keeps the first note.
// An event about one child must not be taken for an event about another child, nor an event that names one manager for an event
// that names another. childEventf records no event about a child that records its owner.
func (e *Engine[O]) childEventf(owner O, kind *apply.Kind, child Object, eventType, reason, action, format string, args ...any) {
	if kind.RecordsOwner {
		return
	}
	e.Recorder.Eventf(owner, child, eventType, reason, action, "%s", message.Truncate(fmt.Sprintf(format, args...)))
}

// servesAsItWas returns whether a step failed that would have changed a child which holds data, and is there.
func servesAsItWas(s apply.Step, err error) bool {
	var immutable *apply.ImmutableError
	return s.Kind.Retention != nil && (s.Operation == apply.Update || s.Operation == apply.Restore || errors.As(err, &immutable))
}
