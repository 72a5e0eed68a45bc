// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/diff"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Violation is a broken promise.
type Violation struct {
	// Promise is the name of the promise.
	Promise string
	Details string
}

func (v Violation) String() string { return v.Promise + ": " + v.Details }

// checks checks the promises: some with each write and after each move, the others when everything has settled.
type checks struct {
	world *world
	// writer is the client whose request is handled, "" for users and nodes.
	writer string
	// isQuiet is true while the controllers must write nothing.
	isQuiet bool

	violations []Violation
	// wasReady has the boxes that have been ready.
	wasReady map[types.UID]bool
	// readyPods is the largest number of pods of a box and an image that were ready at the same time.
	readyPods map[boxImage]int
	// capacity has the boxes with a number of pods that must stay ready.
	capacity map[types.UID]*capacity
	// lastWrites has the last request of each client that wrote to an address.
	lastWrites map[address]lastWrite
	// written has the changes of the present request, and lastChanges the revision of the last change of each key.
	written     []store.Change
	lastChanges map[string]int64
	// restartedAfter has the time after which the pods of a box must have been created.
	restartedAfter map[types.UID]time.Time
	// measuredBefore has how many measurements of the pods of a box there were before its rollout came to its step.
	measuredBefore map[types.UID]int
	// annotated has the Deployments with an annotation of another client.
	annotated map[types.UID]bool
}

func newChecks(w *world) *checks {
	return &checks{
		world: w, wasReady: map[types.UID]bool{}, readyPods: map[boxImage]int{}, capacity: map[types.UID]*capacity{},
		lastWrites: map[address]lastWrite{}, lastChanges: map[string]int64{}, annotated: map[types.UID]bool{},
		restartedAfter: map[types.UID]time.Time{}, measuredBefore: map[types.UID]int{},
	}
}

func (c *checks) violate(promise, format string, arguments ...any) {
	violation := Violation{promise, fmt.Sprintf(format, arguments...)}
	c.world.note("VIOLATION: %s", violation)
	c.violations = append(c.violations, violation)
}

// isController returns whether a controller of ModelBox is writing.
func (c *checks) isController() bool { return strings.HasPrefix(c.writer, serverPrefix) }

// observe checks a write.
func (c *checks) observe(change store.Change) {
	c.written = append(c.written, change)
	c.lastChanges[change.Key] = change.Revision
	if strings.HasPrefix(change.Key, modelBoxPrefix) && !c.world.isServed.Load() {
		if box, isBox := change.After.(*model.ModelBox); isBox {
			c.observeRecovered(box)
		}
		return
	}
	if c.isController() {
		c.world.stats.WritesOfControllers++
		if c.isQuiet && !isMeasurementForUser(change) {
			c.violate("no write without a cause", "%s of %s: %s", c.writer, change.Key, diff.Diff(change.Before, change.After))
		}
	}
	if change.After == nil {
		if claim, isClaim := change.Before.(*api.PersistentVolumeClaim); isClaim && c.writer != "" && strings.Contains(claim.Name, retainedStorage) {
			c.violate("claims that are retained are never deleted", "%s deleted claim %s", c.writer, claim.Name)
		}
	}
	c.observeTraffic(change)
	if box, isBox := change.After.(*model.ModelBox); isBox {
		c.observeCapacity(change, box)
		c.observeBox(change, box)
		c.observeRolloutChecks(change, box)
		c.observeRestarts(box)
	}
	if box, isBox := change.Before.(*model.ModelBox); isBox {
		c.checkDeletion(change, box)
	}
}

func (c *checks) observeBox(change store.Change, box *model.ModelBox) {
	c.world.states[stateOf(box)] = true
	if change.Before == nil {
		c.checkDependencies(box)
	}
	ready := apimeta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || box.Status.ObservedGeneration != box.Generation {
		return
	}
	before, _ := change.Before.(*model.ModelBox)
	if before != nil && before.Generation == box.Generation && apimeta.IsStatusConditionTrue(before.Status.Conditions, modelv1.ConditionReady) && before.Status.ObservedGeneration == box.Generation {
		return
	}
	c.wasReady[box.UID] = true
	if box.Spec.Autoscaling != nil || runsToCompletion(box) {
		return // The autoscaler decides the number of pods, and pods of a Job are never ready.
	}
	c.requireCapacity(box)
	if have, want := c.readyPods[boxImage{box.Name, box.Spec.Image}], c.desired(box); have < want {
		c.violate("no box is ready before its pods", "box %s of generation %d with %d of %d pods of image %s", box.Name, box.Generation, have, want, box.Spec.Image)
	}
}

// afterMove counts the ready pods of each box, and checks its capacity.
func (c *checks) afterMove() {
	ready := map[boxImage]int{}
	for _, object := range c.world.kubernetes.Objects("/pods/" + namespace + "/") {
		if pod := object.(*api.Pod); cluster.IsReady(pod) {
			ready[boxImage{pod.Labels[modelv1.SelectorLabel], pod.Spec.Containers[0].Image}]++
		}
	}
	all := map[string]int{}
	for key, count := range ready {
		c.readyPods[key] = max(c.readyPods[key], count)
		all[key.box] += count
	}
	c.checkCapacity(all)
}
