// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// capacity is the number of pods of a box that must be ready at any time.
type capacity struct {
	// pods is that number. It is 0 before the box is ready for the first time.
	pods int
	// isWaived is true if nothing is required again.
	isWaived bool
}

// requireCapacity requires all pods of a box that has become ready, and all but one for a StatefulSet and a DaemonSet, which replace
// one pod at a time. A Deployment with so few pods deletes a pod only when another pod is ready.
func (c *checks) requireCapacity(box *model.ModelBox) {
	required := c.capacity[box.UID]
	if required == nil {
		required = &capacity{}
		c.capacity[box.UID] = required
	}
	required.pods = c.requiredPods(box)
}

// requiredPods returns the number of pods of the box that must be ready at any time.
func (c *checks) requiredPods(box *model.ModelBox) int {
	if box.Spec.Workload == model.Workload(modelv1.WorkloadDeployment) {
		return c.desired(box)
	}
	return c.desired(box) - 1
}

// observeCapacity drops the requirement if a user changes the number of pods or deletes the box.
func (c *checks) observeCapacity(change store.Change, box *model.ModelBox) {
	required := c.capacity[box.UID]
	if required == nil {
		return
	}
	if before, _ := change.Before.(*model.ModelBox); box.DeletionTimestamp != nil || before == nil || before.Spec.Autoscaling != nil || box.Spec.Autoscaling != nil || c.desired(before) != c.desired(box) {
		required.pods, required.isWaived = 0, required.isWaived || box.DeletionTimestamp != nil
	}
}

// waiveCapacity drops the requirement of the box for good, because a user deletes its pods or edits its children.
func (c *checks) waiveCapacity(name string) {
	if box := c.box(name); box != nil {
		c.capacity[box.UID] = &capacity{isWaived: true}
	}
}

// checkCapacity checks the number of ready pods of each box, by its name, and of those that its Service leads to.
func (c *checks) checkCapacity(ready map[string]int) {
	var pods []*api.Pod
	for _, object := range c.world.kubernetes.Objects("/pods/" + namespace + "/") {
		pods = append(pods, object.(*api.Pod))
	}
	for _, box := range c.boxes() {
		required := c.capacity[box.UID]
		if required == nil || required.isWaived || required.pods <= 0 {
			continue
		}
		if ready[box.Name] < required.pods {
			c.violate("no rollout takes capacity away", "box %s: %d pods ready of at least %d", box.Name, ready[box.Name], required.pods)
			required.isWaived = true
		} else if reached, exists := c.reached(box, box.Name, pods); exists && reached < required.pods {
			c.violate("traffic reaches enough pods", "box %s: %d pods of at least %d", box.Name, reached, required.pods)
			required.isWaived = true
		} else if problem := c.checkRoute(box, pods, required.pods); problem != "" {
			c.violate("routes lead to enough pods", "box %s: %s", box.Name, problem)
			required.isWaived = true
		}
	}
}

// checkRoute returns what is wrong with the HTTPRoute of the box, "" if nothing is. The share of the traffic of each Service must be at
// most its share of the required pods.
func (c *checks) checkRoute(box *model.ModelBox, pods []*api.Pod, required int) string {
	route, _ := c.world.kubernetes.Object(apiserver.HTTPRoutePrefix + box.Namespace + "/" + box.Name).(*gatewayv1.HTTPRoute)
	if route == nil || !metav1.IsControlledBy(route, box) {
		return ""
	}
	if _, hasService := c.reached(box, box.Name, pods); !hasService {
		return "" // The stable pods have no port.
	}
	for _, rule := range route.Spec.Rules {
		total := 0
		for _, backend := range rule.BackendRefs {
			total += int(*backend.Weight)
		}
		for _, backend := range rule.BackendRefs {
			weight := int(*backend.Weight)
			reached, _ := c.reached(box, string(backend.Name), pods)
			if needed := max(1, required*weight/total); weight > 0 && reached < needed {
				return fmt.Sprintf("%d of %d parts of the traffic for Service %s, which leads to %d of %d pods", weight, total, backend.Name, reached, needed)
			}
		}
	}
	return ""
}
