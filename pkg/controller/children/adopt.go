// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// refusal returns why an object that does not belong to the owner is left alone, nil where the owner may adopt it.
func (e *Engine[O]) refusal(owner O, s Step) error {
	obstacle := cmp.Or(s.Kind.immutable(s.rendered, s.live), madeForAnother(owner, s))
	if controller := metav1.GetControllerOfNoCopy(s.live); controller != nil {
		obstacle = fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	refused := &NotOwnedError{Noun: e.Noun, Kind: s.Kind.name(), Name: s.Name()}
	switch {
	case obstacle == "" && e.mayAdopt(owner, s):
		return nil
	case obstacle == "" && e.ConsentIsOnChild:
		refused.Remedy = fmt.Sprintf("delete it, give the %[1]s another name, or annotate the %[2]s with %[3]s=true to let the %[1]s take it over", e.Noun, s.Kind.name(), modelv1.AdoptAnnotation)
	case obstacle == "":
		refused.Remedy = fmt.Sprintf("delete it, give the %[1]s another name, or annotate the %[1]s with %[2]s=true to take it over", e.Noun, modelv1.AdoptAnnotation)
	case e.hasConsent(owner, s.live):
		refused.Remedy = fmt.Sprintf("it cannot be adopted, for %s; delete it or give the %s another name", obstacle, e.Noun)
	default:
		refused.Remedy = fmt.Sprintf("delete it or give the %s another name", e.Noun)
	}
	if mismatch := s.Kind.mismatch(s.rendered, s.live); mismatch != "" {
		refused.Remedy = mismatch + "; " + refused.Remedy
	}
	return refused
}

// mayAdopt returns whether the owner may adopt the live object, as far as nothing else keeps it from that.
func (e *Engine[O]) mayAdopt(owner O, s Step) bool {
	return e.hasConsent(owner, s.live) || e.isCopy(owner, s)
}

// hasConsent returns whether AdoptAnnotation lets the owner adopt the live object.
func (e *Engine[O]) hasConsent(owner O, live Object) bool {
	annotated := metav1.Object(owner)
	if e.ConsentIsOnChild {
		annotated = live
	}
	return annotated.GetAnnotations()[modelv1.AdoptAnnotation] == "true"
}

// confirmAdoption returns an error unless the owner still asks for the child and may adopt the live object in its place. An owner
// that was deleted in the meantime, and orphaned its children, must not take them back. An owner that no longer asks for the child
// would prune the object next.
func (e *Engine[O]) confirmAdoption(ctx context.Context, owner O, s Step) error {
	now, err := e.confirmOwner(ctx, owner)
	if err != nil {
		return err
	}
	rendered, err := e.Render(now, e.live(now, s.live))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rendered, s.isOf)
	if i < 0 {
		return e.ownerChanged()
	}
	if s.rendered = rendered[i]; !e.mayAdopt(now, s) {
		return e.ownerChanged()
	}
	return nil
}

// confirmOwner reads the owner from its API server. It is for actions that must not rely on a cache. It returns an error if the
// owner is gone or going, or if another owner has its name.
func (e *Engine[O]) confirmOwner(ctx context.Context, owner O) (O, error) {
	now, err := timeout.Request(ctx, func(ctx context.Context) (O, error) {
		return e.GetOwner(ctx, owner.GetNamespace(), owner.GetName())
	})
	switch {
	case apierrors.IsNotFound(err):
		return now, e.ownerChanged()
	case err != nil:
		return now, fmt.Errorf("reading the %s anew: %w", e.Noun, err)
	case now.GetUID() != owner.GetUID() || now.GetDeletionTimestamp() != nil:
		return now, e.ownerChanged()
	default:
		return now, nil
	}
}

// confirmGeneration returns an error unless the owner still asks for what the cache says. No data is lost on the word of a cache.
func (e *Engine[O]) confirmGeneration(ctx context.Context, owner O) error {
	now, err := e.confirmOwner(ctx, owner)
	if err == nil && now.GetGeneration() != owner.GetGeneration() {
		err = e.ownerChanged()
	}
	return err
}

func (e *Engine[O]) ownerChanged() error { return fmt.Errorf("the %s %w", e.Noun, ErrOwnerChanged) }

// adopt takes over an object that no controller controls.
func (e *Engine[O]) adopt(ctx context.Context, owner O, s Step) (Object, error) {
	s, err := e.claimAdopted(ctx, owner, s)
	if err != nil {
		return nil, err
	}
	adopted, err := e.apply(ctx, owner, s, true)
	if err != nil {
		return nil, err
	}
	e.childEventf(owner, s.Kind, adopted, corev1.EventTypeNormal, "Adopted"+s.Kind.name(), "Adopt", "Took over %s %s, which had no controller", s.Kind.name(), adopted.GetName())
	return adopted, nil
}
