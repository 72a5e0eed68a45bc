// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// Retention makes a kind one of children that hold data. Such a child may be rendered without a controller reference: it stays when
// its owner is deleted, and belongs to the next owner of the name. It is never deleted to be created again because it cannot become
// as rendered. An object that has the name of such a child is used as it is if it has no controller and was made for no owner.
type Retention struct {
	// ClaimedFor returns the name of the owner that an object was made for; false where there is none.
	ClaimedFor func(object metav1.Object) (types.NamespacedName, bool)
	// Mismatch returns what keeps a live object from serving in the place of the rendered one, such as "it has 1Gi, not 2Gi";
	// empty where nothing does.
	Mismatch func(rendered *unstructured.Unstructured, live Object) string
}

// isRetained returns whether the live object was made for an owner of this name, and it has no controller.
func (p *Planner[O]) isRetained(owner O, s Step) bool {
	if s.Kind.Retention == nil || metav1.GetControllerOfNoCopy(s.Live) != nil || fields.Fingerprint(s.Live) == "" {
		return false
	}
	claimedFor, ok := s.Kind.Retention.ClaimedFor(s.Live)
	return ok && claimedFor == KeyOf(owner)
}

// isUsed returns whether the live object, which is not the owner's, is used in the place of its child.
func (p *Planner[O]) isUsed(owner O, s Step) bool {
	return s.Kind.Retention != nil && !p.hasConsent(owner, s.Live) && metav1.GetControllerOfNoCopy(s.Live) == nil &&
		madeForAnother(owner, s) == "" && s.Kind.Retention.Mismatch(s.Rendered, s.Live) == ""
}

// madeForAnother says for which other owner the live object was made, nothing where for none.
func madeForAnother(owner metav1.Object, s Step) string {
	if s.Kind.Retention == nil {
		return ""
	}
	claimedFor, ok := s.Kind.Retention.ClaimedFor(s.Live)
	if !ok || claimedFor == KeyOf(owner) {
		return ""
	}
	return fmt.Sprintf("it was made for %s", claimedFor.Name)
}
