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

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

const (
	// updatedBoxes get bad updates, some of each workload.
	updatedBoxes = 6
	// updatedStacks get bad updates of what others depend on.
	updatedStacks = 2
	// chaosVolumes are enough for the storage of boxes whose pods get others.
	chaosVolumes = 40
)

// updatedBox has storage where its workload can have some.
func (c *chaos) updatedBox(i int) *modelv1.ModelBox {
	kind := framework.Workloads[i%len(framework.Workloads)]
	box := framework.NewBox(fmt.Sprintf("updated-%d", i), framework.WithWorkload(kind))
	if kind != modelv1.WorkloadDaemonSet {
		c.WithStorage("data")(&box.Spec)
	}
	return box
}

// updatedStack returns a stack of web, which depends on db.
func updatedStack(i int) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stack-%d", i)}}
	for _, name := range []string{"db", "web"} {
		box := framework.NewBox(name).Spec
		stack.Spec.Components = append(stack.Spec.Components, modelv1.ModelStackComponent{Name: name, Box: &box})
	}
	stack.Spec.Components[1].DependsOn = []string{"db"}
	return stack
}

func (c *chaos) stacks() modelclient.ModelStackInterface {
	return c.ControlPlane.ModelClient.ModelV1().ModelStacks(c.Name)
}

// createUpdated creates what gets bad updates, on a storage class that lets no claim grow.
func (c *chaos) createUpdated() {
	c.T.Helper()
	c.CreateVolumes(chaosVolumes, false)
	for i := range updatedBoxes {
		c.CreateBox(c.updatedBox(i))
	}
	for i := range updatedStacks {
		if _, err := c.stacks().Create(c.Ctx, updatedStack(i), metav1.CreateOptions{}); err != nil {
			c.T.Fatal(err)
		}
	}
}

// updateBadly gives a box or a stack something that cannot be, or takes that back in one of the ways that there are.
func (c *chaos) updateBadly(ctx context.Context, random *rand.Rand) (string, error) {
	if random.IntN(4) == 0 {
		return c.updateStack(ctx, random)
	}
	name := c.updatedBox(random.IntN(updatedBoxes)).Name
	if random.IntN(4) == 0 {
		_, err := c.Boxes.CreateRollback(ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{})
		return "rolled a box back", err
	}
	box, err := c.Boxes.Get(ctx, name, metav1.GetOptions{})
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
		c.WithStorage("data", framework.Sized("2Gi"))(&box.Spec)
	default:
		if len(box.Spec.Storage) == 0 {
			return "", errNotDone
		}
		what = "asked for as much storage as there is"
		c.WithStorage("data")(&box.Spec)
	}
	_, err = c.Boxes.Update(ctx, box, metav1.UpdateOptions{})
	return what, err
}

// updateStack takes down what the last component depends on, or updates that, or puts all right again.
func (c *chaos) updateStack(ctx context.Context, random *rand.Rand) (string, error) {
	stack, err := c.stacks().Get(ctx, updatedStack(random.IntN(updatedStacks)).Name, metav1.GetOptions{})
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
	_, err = c.stacks().Update(ctx, stack, metav1.UpdateOptions{})
	return what, err
}

// putRight gives what got bad updates specs that can be.
func (c *chaos) putRight() {
	c.T.Helper()
	c.Eventually("all specs can be", func() error {
		for i := range updatedBoxes {
			box, err := c.Boxes.Get(c.Ctx, c.updatedBox(i).Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			box.Spec.PodTemplate, box.Spec.Storage = nil, c.updatedBox(i).Spec.Storage
			if _, err := c.Boxes.Update(c.Ctx, box, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		for i := range updatedStacks {
			stack, err := c.stacks().Get(c.Ctx, updatedStack(i).Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stack.Spec.Components[0].Box.PodTemplate = nil
			if _, err := c.stacks().Update(c.Ctx, stack, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkStacks returns nil when all stacks are Ready.
func (c *chaos) checkStacks() error {
	for i := range updatedStacks {
		stack, err := c.stacks().Get(c.Ctx, updatedStack(i).Name, metav1.GetOptions{})
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

// expectClaims checks that no claim was given up.
func (c *chaos) expectClaims(before map[string]string) {
	c.T.Helper()
	for name, uid := range before {
		claim, err := c.Claims.Get(c.Ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			c.T.Errorf("PersistentVolumeClaim %s is gone", name)
		case err != nil:
			c.T.Error(err)
		default:
			framework.ExpectEqual(c.T, "UID of PersistentVolumeClaim "+name, uid, string(claim.UID))
		}
	}
}

// boundClaims waits until all claims have their volumes, and returns their UIDs by name.
func (c *chaos) boundClaims() map[string]string {
	c.T.Helper()
	claims := map[string]string{}
	for i := range updatedBoxes {
		box := c.updatedBox(i)
		for range box.Spec.Storage {
			name := box.Name + "-data"
			if box.Spec.Workload == modelv1.WorkloadStatefulSet {
				name = "data-" + box.Name + "-0"
			}
			claims[name] = string(c.AwaitBoundClaim(name).UID)
		}
	}
	return claims
}
