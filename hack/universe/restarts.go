// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"time"

	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// restartsOnReferences returns whether a change of the settings restarts the pods of the box.
func restartsOnReferences(box *model.ModelBox) bool { return box.Spec.RestartOn != nil }

// requireRestarts requires that the boxes that refer to the settings, which have changed, replace their pods.
func (c *checks) requireRestarts() {
	for _, box := range c.boxes() {
		if restartsOnReferences(box) {
			c.restartedAfter[box.UID] = time.Now()
		}
	}
}

// observeRestarts drops the requirement if the box no longer restarts.
func (c *checks) observeRestarts(box *model.ModelBox) {
	if !restartsOnReferences(box) {
		delete(c.restartedAfter, box.UID)
	}
}

// checkRestarts checks that the pods of a ready box are newer than the settings.
func (c *checks) checkRestarts(box *model.ModelBox, pods []*api.Pod) {
	// The time of a creation has no fractions of seconds.
	required := c.restartedAfter[box.UID].Truncate(time.Second)
	for _, pod := range pods {
		if pod.CreationTimestamp.Time.Before(required) {
			c.violate("boxes restart when their references change", "pod %s of %s is older than %s", pod.Name, pod.CreationTimestamp.UTC().Format(time.TimeOnly), required.UTC().Format(time.TimeOnly))
		}
	}
}
