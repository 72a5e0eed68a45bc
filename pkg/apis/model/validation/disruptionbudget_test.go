// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func minAvailable(value intstr.IntOrString) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MinAvailable: &value}
	}
}

func maxUnavailable(value intstr.IntOrString) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MaxUnavailable: &value}
	}
}

func TestDisruptionBudget(t *testing.T) {
	number, percent, daemonSet := intstr.FromInt32, intstr.FromString, runAs(model.WorkloadDaemonSet)
	const path = "spec.disruptionBudget"
	check(t, []row{
		{"a number of available pods is accepted", minAvailable(number(1)), nil},
		{"a number of unavailable pods is accepted", maxUnavailable(number(1)), nil},
		{"none is accepted", maxUnavailable(number(0)), nil},
		{"all are accepted", minAvailable(percent("100%")), nil},
		{"a share is accepted", maxUnavailable(percent("25%")), nil},
		{"it has a limit", func(box *model.ModelBox) { box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{} }, []string{"Required value: " + path}},
		{"it has one limit", func(box *model.ModelBox) {
			one := number(1)
			box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MinAvailable: &one, MaxUnavailable: &one}
		}, []string{"Forbidden: " + path + ".maxUnavailable"}},
		{"a number is not negative", minAvailable(number(-1)), []string{"Invalid value: " + path + ".minAvailable"}},
		{"a text is a percentage", maxUnavailable(percent("1")), []string{"Invalid value: " + path + ".maxUnavailable"}},
		{"a share is not negative", minAvailable(percent("-1%")), []string{"Invalid value: " + path + ".minAvailable"}},
		{"a share is at most all", maxUnavailable(percent("101%")), []string{"Invalid value: " + path + ".maxUnavailable"}},
		{"a share is a number", maxUnavailable(percent("99999999999999999999%")), []string{"Invalid value: " + path + ".maxUnavailable"}},
		{"pods of a StatefulSet are counted", all(runAs(model.WorkloadStatefulSet), maxUnavailable(percent("25%"))), nil},
		{"a number of available pods of a DaemonSet is accepted", all(daemonSet, minAvailable(number(1))), nil},
		{"a share of the available pods of a DaemonSet cannot be counted", all(daemonSet, minAvailable(percent("50%"))), []string{"Invalid value: " + path + ".minAvailable"}},
		{"unavailable pods of a DaemonSet cannot be counted", all(daemonSet, maxUnavailable(number(1))), []string{"Forbidden: " + path + ".maxUnavailable"}},
	})
}
