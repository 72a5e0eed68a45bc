// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"math/rand/v2"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

const (
	// updatedBoxes is the number of boxes that get bad updates, some of each workload.
	updatedBoxes = 6
	// updatedStacks is the number of stacks that get bad updates of dependencies.
	updatedStacks = 2
	// chaosVolumes is a number of volumes that is enough for boxes whose pods are replaced.
	chaosVolumes = 40
)

// badUpdates are updates of boxes and stacks to impossible specs. The storage class of their namespace does not allow expansion.
type badUpdates struct {
	*framework.Namespace
	// claims has the UIDs of the claims of the boxes by name.
	claims map[string]types.UID
}

// newBadUpdates creates the boxes and stacks for the updates. It returns nil if the chaos has no bad updates.
func newBadUpdates(n *framework.Namespace, areWanted bool) *badUpdates {
	n.T.Helper()
	if !areWanted {
		return nil
	}
	u := &badUpdates{Namespace: n, claims: map[string]types.UID{}}
	n.CreateVolumes(chaosVolumes, false)
	for i := range updatedBoxes {
		n.CreateBox(u.box(i))
	}
	for i := range updatedStacks {
		if _, err := u.stacks().Create(n.Ctx, updatedStack(i), metav1.CreateOptions{}); err != nil {
			n.T.Fatal(err)
		}
	}
	for i := range updatedBoxes {
		box := u.box(i)
		for range box.Spec.Storage {
			name := box.Name + "-data"
			if box.Spec.Workload == modelv1.WorkloadStatefulSet {
				name = "data-" + box.Name + "-0"
			}
			u.claims[name] = n.AwaitBoundClaim(name).UID
		}
	}
	return u
}

// box returns a box, with storage if its workload can have it.
func (u *badUpdates) box(i int) *modelv1.ModelBox {
	kind := framework.Workloads[i%len(framework.Workloads)]
	box := framework.NewBox(fmt.Sprintf("updated-%d", i), framework.WithWorkload(kind))
	if kind != modelv1.WorkloadDaemonSet {
		u.WithStorage("data")(&box.Spec)
	}
	return box
}

// updatedStack returns a stack of the components web and db. web depends on db.
func updatedStack(i int) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stack-%d", i)}}
	for _, name := range []string{"db", "web"} {
		box := framework.NewBox(name).Spec
		stack.Spec.Components = append(stack.Spec.Components, modelv1.ModelStackComponent{Name: name, Box: &box})
	}
	stack.Spec.Components[1].DependsOn = []string{"db"}
	return stack
}

func (u *badUpdates) stacks() modelclient.ModelStackInterface {
	return u.ControlPlane.ModelClient.ModelV1().ModelStacks(u.Name)
}

// update updates a box or a stack to an impossible spec, or reverts that in one of several ways.
func (u *badUpdates) update(ctx context.Context, random *rand.Rand) (string, error) {
	if random.IntN(4) == 0 {
		return u.updateStack(ctx, random)
	}
	name := u.box(random.IntN(updatedBoxes)).Name
	if random.IntN(4) == 0 {
		_, err := u.Boxes.CreateRollback(ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{})
		return "rolled a box back", err
	}
	box, err := u.Boxes.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	what := ""
	switch random.IntN(5) {
	case 0:
		what = "asked for a node that there is not"
		framework.Unschedulable(&box.Spec)
	case 1:
		what = "corrected a box"
		box.Spec.PodTemplate = nil
	case 2:
		what = "updated an image"
		box.Spec.Image = fmt.Sprintf("nginx:%d", random.IntN(5))
	case 3:
		if len(box.Spec.Storage) == 0 {
			return "", errNotDone
		}
		what = "asked for more storage than there can be"
		u.WithStorage("data", framework.Sized("2Gi"))(&box.Spec)
	default:
		if len(box.Spec.Storage) == 0 {
			return "", errNotDone
		}
		what = "asked for as much storage as there is"
		u.WithStorage("data")(&box.Spec)
	}
	_, err = u.Boxes.Update(ctx, box, metav1.UpdateOptions{})
	return what, err
}

// updateStack stops or updates a dependency of the last component, or reverts the changes.
func (u *badUpdates) updateStack(ctx context.Context, random *rand.Rand) (string, error) {
	stack, err := u.stacks().Get(ctx, updatedStack(random.IntN(updatedStacks)).Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	what, db, web := "", stack.Spec.Components[0].Box, stack.Spec.Components[1].Box
	switch random.IntN(3) {
	case 0:
		what = "took down a dependency"
		framework.Unschedulable(db)
	case 1:
		what = "updated what depends on others"
		web.Image = fmt.Sprintf("nginx:%d", random.IntN(5))
	default:
		what = "put a dependency right"
		db.PodTemplate = nil
	}
	_, err = u.stacks().Update(ctx, stack, metav1.UpdateOptions{})
	return what, err
}

// putRight gives all boxes and stacks with bad updates possible specs.
func (u *badUpdates) putRight() {
	u.T.Helper()
	u.Eventually("all specs can be", func() error {
		for i := range updatedBoxes {
			box, err := u.Boxes.Get(u.Ctx, u.box(i).Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			box.Spec.PodTemplate, box.Spec.Storage = nil, u.box(i).Spec.Storage
			if _, err := u.Boxes.Update(u.Ctx, box, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		for i := range updatedStacks {
			stack, err := u.stacks().Get(u.Ctx, updatedStack(i).Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stack.Spec.Components[0].Box.PodTemplate = nil
			if _, err := u.stacks().Update(u.Ctx, stack, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkStacks returns nil when all stacks are Ready.
func (u *badUpdates) checkStacks() error {
	for i := range updatedStacks {
		stack, err := u.stacks().Get(u.Ctx, updatedStack(i).Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := meta.FindStatusCondition(stack.Status.Conditions, modelv1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != stack.Generation {
			return fmt.Errorf("stack %s: it has %+v", stack.Name, ready)
		}
	}
	return nil
}

// expectClaims checks that no claim was deleted or replaced.
func (u *badUpdates) expectClaims() {
	u.T.Helper()
	for name, uid := range u.claims {
		claim, err := u.Claims.Get(u.Ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			u.T.Errorf("PersistentVolumeClaim %s was deleted", name)
		case err != nil:
			u.T.Error(err)
		default:
			framework.ExpectEqual(u.T, "UID of PersistentVolumeClaim "+name, uid, claim.UID)
		}
	}
}
