// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// problem is why a Service does not have the Ingress that it asks for: the reason of an event and its note.
type problem struct{ reason, text string }

// reportedProblem is the problem of a Service that was reported last. It is lost with the process, and then a problem that lasts
// is reported once more.
type reportedProblem struct {
	service types.UID
	problem problem
}

// isNewProblem takes note of the problem of a Service, and returns whether it is another one than before.
func (c *Controller) isNewProblem(service metav1.Object, p problem) bool {
	reported := reportedProblem{service.GetUID(), p}
	if last, _ := c.problems.Get(apply.KeyOf(service)); last == reported {
		return false
	}
	c.problems.Set(apply.KeyOf(service), reported)
	return true
}
