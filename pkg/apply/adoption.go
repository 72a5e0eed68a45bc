// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// refusal returns why an object that does not belong to the owner is left alone, nil where the owner may adopt it.
func (p *Planner[O]) refusal(owner O, s Step) error {
	obstacle := cmp.Or(s.Kind.immutable(s.Rendered, s.Live), madeForAnother(owner, s))
	if controller := metav1.GetControllerOfNoCopy(s.Live); controller != nil {
		obstacle = fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	refused := &NotOwnedError{Noun: p.Noun, Kind: s.Kind.Name(), Name: s.Name()}
	switch {
	case obstacle == "" && p.MayAdopt(owner, s):
		return nil
	case obstacle == "" && p.ConsentIsOnChild:
		refused.Remedy = fmt.Sprintf("delete it, give the %[1]s another name, or annotate the %[2]s with %[3]s=true to let the %[1]s take it over", p.Noun, s.Kind.Name(), modelv1.AdoptAnnotation)
	case obstacle == "":
		refused.Remedy = fmt.Sprintf("delete it, give the %[1]s another name, or annotate the %[1]s with %[2]s=true to take it over", p.Noun, modelv1.AdoptAnnotation)
	case p.hasConsent(owner, s.Live):
		refused.Remedy = fmt.Sprintf("it cannot be adopted, for %s; delete it or give the %s another name", obstacle, p.Noun)
	default:
		refused.Remedy = fmt.Sprintf("delete it or give the %s another name", p.Noun)
	}
	if mismatch := s.Kind.mismatch(s.Rendered, s.Live); mismatch != "" {
		refused.Remedy = mismatch + "; " + refused.Remedy
	}
	return refused
}

// MayAdopt returns whether the owner may adopt the live object, as far as nothing else keeps it from that.
func (p *Planner[O]) MayAdopt(owner O, s Step) bool {
	return p.hasConsent(owner, s.Live) || p.isCopy(owner, s)
}

// hasConsent returns whether AdoptAnnotation lets the owner adopt the live object.
func (p *Planner[O]) hasConsent(owner O, live Object) bool {
	annotated := metav1.Object(owner)
	if p.ConsentIsOnChild {
		annotated = live
	}
	return annotated.GetAnnotations()[modelv1.AdoptAnnotation] == "true"
}
