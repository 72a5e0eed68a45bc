// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// author writes the actions of a plan.
type author struct {
	random *rand.Rand
	// boxes has the specs that the last actions apply. A box that an action deletes has none.
	boxes map[string]modelv1.ModelBoxSpec
	// hasStack is true if the last action for the stack applies it.
	hasStack bool
	// losesStores is true if actions replace the store of ModelBox.
	losesStores bool
}

func newAuthor(random *rand.Rand) *author {
	return &author{random: random, boxes: map[string]modelv1.ModelBoxSpec{}}
}

// boxActions write the actions that need the box of the name, each as often as its weight says.
var boxActions = []struct {
	weight int
	write  func(a *author, box string) []Action
}{
	{30, one((*author).applyBox)},
	{15, one((*author).setImage)},
	{5, one((*author).deleteBox)},
	{5, one((*author).loadBox)},
	{5, one((*author).scaleBox)},
	{8, (*author).resizeBox},
	{8, (*author).releaseBox},
	{6, one((*author).restartBox)},
	{3, one((*author).retryRollout)},
	{3, one((*author).promoteRollout)},
	{2, one((*author).abortRollout)},
	{3, one((*author).rollBack)},
	{4, one(func(_ *author, box string) Action {
		return Action{"delete the children of box " + box, func(ctx context.Context, u *users) error { return u.deleteChildren(ctx, box) }}
	})},
	{3, one(func(_ *author, box string) Action {
		return Action{"delete a pod of box " + box, func(ctx context.Context, u *users) error { return u.deletePod(ctx, box) }}
	})},
	{3, one(func(_ *author, box string) Action {
		return Action{"edit the children of box " + box, func(ctx context.Context, u *users) error { return u.editChildren(ctx, box) }}
	})},
	{2, one(func(_ *author, box string) Action {
		return Action{"annotate the Deployment of box " + box, func(ctx context.Context, u *users) error { return u.annotate(ctx, box) }}
	})},
}

// one makes a function for one action a function for several.
func one(write func(a *author, box string) Action) func(*author, string) []Action {
	return func(a *author, box string) []Action { return []Action{write(a, box)} }
}

// wait is the action of a user who waits until everything has settled.
var wait = Action{Name: "wait"}

// newActions returns a random action, or several that belong together.
func (a *author) newActions() []Action {
	if a.losesStores && a.random.IntN(6) == 0 {
		return a.replaceStore()
	}
	switch choice := a.random.IntN(100); {
	case choice < 23:
		return []Action{wait}
	case choice < 32:
		return a.newStackActions()
	case choice < 35:
		return []Action{{"change the settings", func(ctx context.Context, u *users) error { return u.setSettings(ctx) }}}
	case choice < 37:
		return []Action{a.applyPodDebugger()}
	case choice < 38:
		return []Action{{"delete PodDebugger " + podDebuggerName, func(ctx context.Context, u *users) error {
			return u.podDebuggers.Delete(ctx, podDebuggerName, metav1.DeleteOptions{})
		}}}
	}
	return a.newBoxActions(boxNames[a.random.IntN(len(boxNames))])
}

// newScenario returns actions for one box or one stack: at least that many.
func (a *author) newScenario(count int) []Action {
	next := a.newStackActions
	if a.random.IntN(3) > 0 {
		box := boxNames[a.random.IntN(len(boxNames))]
		next = func() []Action { return a.newBoxActions(box) }
	}
	actions := next()
	for len(actions) < count {
		switch choice := a.random.IntN(10); {
		case choice < 3:
			actions = append(actions, wait)
		case choice < 5 && a.losesStores:
			actions = append(actions, a.replaceStore()...)
		default:
			actions = append(actions, next()...)
		}
	}
	return actions
}

// newBoxActions returns a random action for the box, or several that belong together. The first one applies the box.
func (a *author) newBoxActions(box string) []Action {
	if _, exists := a.boxes[box]; !exists {
		return []Action{a.applyBox(box)}
	}
	total := 0
	for _, action := range boxActions {
		total += action.weight
	}
	chosen := a.random.IntN(total)
	for _, action := range boxActions {
		if chosen -= action.weight; chosen < 0 {
			return action.write(a, box)
		}
	}
	panic("the weights have another sum")
}

func (a *author) applyBox(box string) Action {
	spec, exists := a.boxes[box]
	if exists && a.random.IntN(10) > 0 {
		spec = editedBox(a.random, spec)
	} else {
		spec = newBox(a.random)
	}
	return a.apply(box, spec)
}

func (a *author) apply(box string, spec modelv1.ModelBoxSpec) Action {
	a.boxes[box] = spec
	return Action{"apply box " + box + " " + encode(spec), func(ctx context.Context, u *users) error { return u.applyBox(ctx, box, spec) }}
}

func (a *author) setImage(box string) Action {
	image := newImage(a.random)
	return Action{"set the image of box " + box + " to " + image, func(ctx context.Context, u *users) error { return u.setImage(ctx, box, image) }}
}

func (a *author) deleteBox(box string) Action {
	delete(a.boxes, box)
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
	policy := policies[a.random.IntN(len(policies))]
	return Action{"delete box " + box + ", " + string(policy), func(ctx context.Context, u *users) error {
		return u.boxes.Delete(ctx, box, metav1.DeleteOptions{PropagationPolicy: &policy})
	}}
}

func (a *author) loadBox(box string) Action {
	load := int64(50 * a.random.IntN(4))
	return Action{fmt.Sprintf("load box %s with %dm", box, load), func(_ context.Context, u *users) error {
		u.world.load.Set(box, load)
		return nil
	}}
}

func (a *author) scaleBox(box string) Action {
	replicas := int32(a.random.IntN(4))
	return Action{fmt.Sprintf("scale box %s to %d", box, replicas), func(ctx context.Context, u *users) error { return u.scale(ctx, box, replicas) }}
}

// resizeBox changes the CPU of the pods when they run. Only a box that is not in a rollout gets it in place.
func (a *author) resizeBox(box string) []Action {
	spec := a.boxes[box]
	spec.Image, spec.Paused = goodImage(a.random), false
	return []Action{a.apply(box, spec), wait, a.apply(box, resizedBox(a.random, spec))}
}

// releaseBox rolls a new version of the pods of a Deployment out in steps that split the traffic, when the pods of the former one run.
func (a *author) releaseBox(box string) []Action {
	spec := a.boxes[box]
	if spec.Workload != modelv1.WorkloadDeployment {
		return []Action{a.setImage(box)}
	}
	spec.Paused, spec.Before, spec.Autoscaling, spec.Replicas = false, nil, nil, ptr.To(int32(1+a.random.IntN(4)))
	spec.Ports, spec.Route = []corev1.ServicePort{{Port: 80}}, newRoute()
	spec.Rollout = newStepsRollout(a.random, spec.Workload)
	spec.Image = goodImage(a.random)
	stable := a.apply(box, spec)
	spec.Image = newImage(a.random)
	return []Action{stable, wait, a.apply(box, spec)}
}

func (a *author) restartBox(box string) Action {
	return Action{"restart box " + box, func(ctx context.Context, u *users) error {
		_, err := u.boxes.CreateRestart(ctx, box, &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: box}}, metav1.CreateOptions{})
		return err
	}}
}

func (a *author) retryRollout(box string) Action {
	return Action{"retry the rollout of box " + box, func(ctx context.Context, u *users) error {
		_, err := u.boxes.CreateRetry(ctx, box, &modelv1.ModelBoxRetry{ObjectMeta: metav1.ObjectMeta{Name: box}}, metav1.CreateOptions{})
		return err
	}}
}

func (a *author) promoteRollout(box string) Action {
	full := a.random.IntN(2) == 0
	return Action{fmt.Sprintf("promote the rollout of box %s, full: %t", box, full), func(ctx context.Context, u *users) error {
		_, err := u.boxes.CreatePromotion(ctx, box, &modelv1.ModelBoxPromotion{ObjectMeta: metav1.ObjectMeta{Name: box}, Full: full}, metav1.CreateOptions{})
		return err
	}}
}

func (a *author) abortRollout(box string) Action {
	return Action{"abort the rollout of box " + box, func(ctx context.Context, u *users) error {
		_, err := u.boxes.CreateAbort(ctx, box, &modelv1.ModelBoxAbort{ObjectMeta: metav1.ObjectMeta{Name: box}}, metav1.CreateOptions{})
		return err
	}}
}

func (a *author) rollBack(box string) Action {
	return Action{"roll back box " + box, func(ctx context.Context, u *users) error {
		_, err := u.boxes.CreateRollback(ctx, box, &modelv1.ModelBoxRollback{ObjectMeta: metav1.ObjectMeta{Name: box}}, metav1.CreateOptions{})
		return err
	}}
}

// newStackActions returns an action for the stack.
func (a *author) newStackActions() []Action {
	if a.hasStack && a.random.IntN(2) == 0 {
		a.hasStack = false
		return []Action{a.deleteStack()}
	}
	a.hasStack = true
	return []Action{a.applyStack()}
}

func (a *author) applyStack() Action {
	spec := newStack(a.random)
	return Action{"apply stack " + stackName + " " + encode(spec), func(ctx context.Context, u *users) error { return u.applyStack(ctx, spec) }}
}

func (a *author) applyPodDebugger() Action {
	spec := newPodDebugger(a.random)
	return Action{"apply PodDebugger " + podDebuggerName + " " + encode(spec), func(ctx context.Context, u *users) error { return u.applyPodDebugger(ctx, spec) }}
}

func (a *author) deleteStack() Action {
	return Action{"delete stack " + stackName, func(ctx context.Context, u *users) error {
		return u.stacks.Delete(ctx, stackName, metav1.DeleteOptions{})
	}}
}

// replaceStore takes a snapshot of the store of ModelBox, or replaces the store by the last snapshot or by an empty store. The recovery
// ends before the next action, or is still running.
func (a *author) replaceStore() []Action {
	var replace Action
	switch a.random.IntN(3) {
	case 0:
		return []Action{{"take a snapshot", func(_ context.Context, u *users) error {
			u.world.takeSnapshot()
			return nil
		}}}
	case 1:
		replace = Action{"restore the last snapshot", func(ctx context.Context, u *users) error { return u.world.replaceStore(ctx, u.world.snapshot) }}
	default:
		replace = Action{"lose the store", func(ctx context.Context, u *users) error { return u.world.replaceStore(ctx, nil) }}
	}
	if a.random.IntN(3) == 0 {
		return []Action{replace}
	}
	return []Action{replace, wait}
}
