// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// pair is a change of a box, made in one way.
type pair struct {
	cell
	way    *boxWay
	change change
	box    string
	// before and after are the specs before and after the change, and wanted is the expected stored spec at the end.
	before, after, wanted modelv1.ModelBoxSpec
	// seen has the objects before the change.
	seen seen
	// retained are the names of storage whose claims the last spec that had it retains, until the box is deleted for another one.
	retained sets.Set[string]
}

// seen has the objects that a change must not delete unnecessarily.
type seen struct {
	box    types.UID
	pods   map[string]types.UID
	claims []corev1.PersistentVolumeClaim
}

func (p *pair) name() string { return p.change.name }

// begin creates the box, waits until it is Ready, and records its objects.
func (p *pair) begin() {
	p.T.Helper()
	p.before, p.after = p.change.specs(p.box, p.Name)
	p.retained = sets.New[string]()
	p.createBox(p.before, nil)
	p.noteRetained()
	p.before = p.wanted
	p.seen.box = p.awaitReady().UID
	p.seen.pods = p.PodUIDs(p.box)
	claims, err := p.Claims.List(p.Ctx, metav1.ListOptions{LabelSelector: p.labels()})
	if err != nil {
		p.T.Fatal(err)
	}
	p.seen.claims = claims.Items
}

func (p *pair) labels() string { return modelv1.SelectorLabel + "=" + p.box }

// createBox creates the box with the spec.
func (p *pair) createBox(spec modelv1.ModelBoxSpec, annotations map[string]string) {
	p.T.Helper()
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: p.box, Annotations: annotations}, Spec: spec}
	p.wanted = p.CreateBox(box).Spec
}

// deleteBox deletes the box, as soon as its retained claims are released, and returns when it is gone.
func (p *pair) deleteBox(propagation metav1.DeletionPropagation) {
	p.T.Helper()
	uid := p.GetBox(p.box).UID
	framework.Eventually(p.T, timeout, "box "+p.box+" is deleted", func() error {
		return p.Boxes.Delete(p.Ctx, p.box, metav1.DeleteOptions{PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid}})
	})
	framework.Eventually(p.T, timeout, "box "+p.box+" is gone", func() error {
		_, err := p.Boxes.Get(p.Ctx, p.box, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
}

// set updates the box to the spec with further changes.
func (p *pair) set(spec modelv1.ModelBoxSpec, changes ...func(*modelv1.ModelBoxSpec)) {
	p.T.Helper()
	p.wanted = p.UpdateBox(p.box, func(stored *modelv1.ModelBoxSpec) {
		spec.DeepCopyInto(stored)
		for _, change := range changes {
			change(stored)
		}
	}).Spec
	p.noteRetained()
}

// noteRetained records the retention of the storage of the box.
func (p *pair) noteRetained() {
	for _, storage := range p.wanted.Storage {
		if *storage.Retain {
			p.retained.Insert(storage.Name)
		} else {
			p.retained.Delete(storage.Name)
		}
	}
}

// possible returns the spec after the change if the box can have it without being created again.
func (p *pair) possible() modelv1.ModelBoxSpec {
	if p.change.isOfNewBoxes() {
		return p.before
	}
	return p.after
}

// earlier returns the spec before the change, with the current size of expanded storage, because a volume cannot shrink.
func (p *pair) earlier() modelv1.ModelBoxSpec {
	spec := *p.before.DeepCopy()
	for i := range spec.Storage {
		storage, after := &spec.Storage[i], storageNamed(&p.after, spec.Storage[i].Name)
		if after != nil && after.RequestedSize.Cmp(storage.RequestedSize) > 0 {
			storage.RequestedSize = after.RequestedSize
		}
	}
	return spec
}

// rollBack waits for the former revision, and rolls back the box to it.
func (p *pair) rollBack() {
	p.T.Helper()
	rollback := &modelv1.ModelBoxRollback{DeleteStorage: discards(&p.wanted, &p.before)}
	p.wanted = p.earlier()
	p.wanted.Replicas = p.GetBox(p.box).Spec.Replicas // the number of pods stays
	framework.Eventually(p.T, timeout, "box "+p.box+" is rolled back", func() error {
		_, err := p.Boxes.CreateRollback(p.Ctx, p.box, rollback, metav1.CreateOptions{})
		return err
	})
	p.noteRetained()
}

// deleteChildren deletes all children of the box except its claims.
func (p *pair) deleteChildren() {
	p.T.Helper()
	rendered, err := p.rendered()
	if err != nil {
		p.T.Fatal(err)
	}
	background := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	for _, child := range rendered {
		if child.GetKind() == "PersistentVolumeClaim" {
			continue
		}
		err := p.Objects(child.GroupVersionKind()).Delete(p.Ctx, child.GetName(), background)
		if err != nil && !apierrors.IsNotFound(err) {
			p.T.Fatal(err)
		}
	}
}

// rendered returns the render of the box.
func (p *pair) rendered() ([]*unstructured.Unstructured, error) {
	list, err := p.Boxes.GetRender(p.Ctx, p.box, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("rendering it: %w", err)
	}
	var children []*unstructured.Unstructured
	for _, item := range list.Items {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON(item.Raw); err != nil {
			return nil, fmt.Errorf("reading what is rendered: %w", err)
		}
		children = append(children, child)
	}
	return children, nil
}

// await waits until check returns nil for the box.
func (p *pair) await(what string, check func(*modelv1.ModelBox) error) *modelv1.ModelBox {
	p.T.Helper()
	var box *modelv1.ModelBox
	framework.Eventually(p.T, timeout, "box "+p.box+" "+what, func() (err error) {
		if box, err = p.Boxes.Get(p.Ctx, p.box, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(box)
	})
	return box
}

func (p *pair) awaitReady() *modelv1.ModelBox {
	p.T.Helper()
	return p.await("is Ready", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// awaitObserved waits until the status is for the current spec.
func (p *pair) awaitObserved() {
	p.T.Helper()
	p.await("is observed", checkObserved)
}

// awaitReleased waits until no workload owns claims that must be retained.
func (p *pair) awaitReleased() {
	p.T.Helper()
	p.await("has released what it retains", func(box *modelv1.ModelBox) error {
		if len(box.Status.UnreleasedStorage) > 0 {
			return fmt.Errorf("it has not released %q", box.Status.UnreleasedStorage)
		}
		return nil
	})
}

func checkObserved(box *modelv1.ModelBox) error {
	if box.Status.ObservedGeneration != box.Generation {
		return fmt.Errorf("its status is of generation %d, it is at %d", box.Status.ObservedGeneration, box.Generation)
	}
	return nil
}

// expectConverged waits until all children match the box, and checks that nothing was lost.
func (p *pair) expectConverged() {
	p.T.Helper()
	box := p.await("has converged", func(box *modelv1.ModelBox) error {
		ready := framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
		if err := errors.Join(checkObserved(box), ready); err != nil {
			return err
		}
		rendered, err := p.rendered()
		if err != nil {
			return err
		}
		for _, child := range rendered {
			if err := p.CheckRendered(child); err != nil {
				return err
			}
		}
		return p.checkNothingLeft(rendered)
	})
	if wanted, spec := withoutReferences(p.wanted), withoutReferences(box.Spec); !apiequality.Semantic.DeepEqual(wanted, spec) {
		framework.ExpectEqual(p.T, "spec of the box", wanted, spec)
	}
	if isOther := box.UID != p.seen.box; isOther != p.way.isOfNewOnes {
		p.T.Errorf("the box is another one: %t", isOther)
	}
	p.expectClaims()
	p.expectPods()
}

// withoutReferences returns the spec without the hashes of references, which the server records in the pod template.
func withoutReferences(spec modelv1.ModelBoxSpec) modelv1.ModelBoxSpec {
	if spec.PodTemplate == nil {
		return spec
	}
	spec.PodTemplate = spec.PodTemplate.DeepCopy()
	delete(spec.PodTemplate.Annotations, modelv1.ReferencesAnnotation)
	if apiequality.Semantic.DeepEqual(*spec.PodTemplate, corev1.PodTemplateSpec{}) {
		spec.PodTemplate = nil
	}
	return spec
}
