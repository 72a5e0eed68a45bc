// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// Verdict is a condition without its bookkeeping.
type Verdict struct {
	IsTrue  bool
	Reason  string
	Message string
}

// SetCondition sets a condition of the generation. It keeps its time while its status stays the same.
func SetCondition(conditions *[]metav1.Condition, generation int64, conditionType string, v Verdict) {
	condition := metav1.Condition{
		Type:               conditionType,
		Status:             metav1.ConditionFalse,
		Reason:             v.Reason,
		Message:            message.Truncate(v.Message),
		ObservedGeneration: generation,
	}
	if v.IsTrue {
		condition.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(conditions, condition)
}
