// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// workload makes the valid box one of the workload, without what was filled in for a Deployment only.
func workload(workload model.Workload) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Workload = workload
		if workload != model.WorkloadDeployment {
			box.Spec.RollingUpdate = nil
		}
		if workload == model.WorkloadDaemonSet {
			box.Spec.Replicas = nil
		}
	}
}

func serviceType(serviceType model.ServiceType) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.ServiceType = serviceType }
}

func name(length int) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Name = strings.Repeat("a", length) }
}

func TestWorkload(t *testing.T) {
	statefulSet, daemonSet := workload(model.WorkloadStatefulSet), workload(model.WorkloadDaemonSet)
	check(t, []row{
		{"a StatefulSet is accepted", statefulSet, nil},
		{"a StatefulSet whose own Service is headless is accepted", all(statefulSet, serviceType(model.ServiceTypeHeadless)), nil},
		{"a DaemonSet is accepted", daemonSet, nil},
		{"a Pod is no workload of a box", workload("Pod"), []string{"Unsupported value: spec.workload"}},
		{"a workload is said", workload(""), []string{"Required value: spec.workload"}},

		{"a StatefulSet has a name of up to 52 characters", all(statefulSet, name(52)), nil},
		{"a StatefulSet has no name of 53 characters", all(statefulSet, name(53)), []string{"Invalid value: metadata.name"}},
		{"a DaemonSet has a name of up to 63 characters", all(daemonSet, name(63)), nil},

		{"a StatefulSet has replicas", all(statefulSet, replicas(0)), nil},
		{"a DaemonSet has no replicas", all(daemonSet, replicas(1)), []string{"Forbidden: spec.replicas"}},
		{"a StatefulSet is not recreated", all(statefulSet, strategy(model.StrategyRecreate)), []string{"Invalid value: spec.strategy"}},
		{"a DaemonSet is not recreated", all(daemonSet, strategy(model.StrategyRecreate)), []string{"Invalid value: spec.strategy"}},

		{"a StatefulSet takes a percentage for maxUnavailable", all(statefulSet, rollingUpdate(intstr.FromString("1%"))), nil},
		{"a StatefulSet takes a number for maxUnavailable", all(statefulSet, rollingUpdate(intstr.FromInt32(2))), nil},
		{"a StatefulSet takes an object with maxUnavailable", all(statefulSet, rollingUpdateOf("", "100%")), nil},
		{"a StatefulSet takes no empty object", all(statefulSet, rollingUpdateOf("", "")), []string{"Required value: spec.rollingUpdate"}},
		{"a StatefulSet has no maxSurge", all(statefulSet, rollingUpdateOf("1", "1")), []string{"Forbidden: spec.rollingUpdate.maxSurge"}},
		{"a StatefulSet has no maxSurge of 0", all(statefulSet, rollingUpdateOf("0", "")), []string{"Forbidden: spec.rollingUpdate.maxSurge"}},
		{"a StatefulSet lets some pod be unavailable", all(statefulSet, rollingUpdateOf("", "0")), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a StatefulSet lets some share be unavailable", all(statefulSet, rollingUpdateOf("", "0%")), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a StatefulSet lets 100% be unavailable at most", all(statefulSet, rollingUpdateOf("", "101%")), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a StatefulSet lets no negative number be unavailable", all(statefulSet, rollingUpdateOf("", "-1")), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a StatefulSet is not rolled by 0%", all(statefulSet, rollingUpdate(intstr.FromString("0%"))), []string{"Invalid value: spec.rollingUpdate"}},

		{"a DaemonSet takes a percentage for maxUnavailable", all(daemonSet, rollingUpdate(intstr.FromString("100%"))), nil},
		{"a DaemonSet takes maxUnavailable alone", all(daemonSet, rollingUpdateOf("", "2")), nil},
		{"a DaemonSet takes a maxSurge of 0 alone", all(daemonSet, rollingUpdateOf("0", "")), nil},
		{"a DaemonSet takes maxSurge with a maxUnavailable of 0", all(daemonSet, rollingUpdateOf("30%", "0")), nil},
		{"a DaemonSet takes no empty object", all(daemonSet, rollingUpdateOf("", "")), []string{"Required value: spec.rollingUpdate"}},
		{"a DaemonSet does not have both limits", all(daemonSet, rollingUpdateOf("1", "1")), []string{"Invalid value: spec.rollingUpdate.maxSurge"}},
		{"a DaemonSet does not have maxSurge with the default of maxUnavailable", all(daemonSet, rollingUpdateOf("1", "")),
			[]string{"Required value: spec.rollingUpdate.maxUnavailable"}},
		{"a DaemonSet has one of the limits", all(daemonSet, rollingUpdateOf("0", "0%")), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a DaemonSet does not have maxUnavailable of 0 with the default of maxSurge", all(daemonSet, rollingUpdateOf("", "0")),
			[]string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a DaemonSet surges by 100% at most", all(daemonSet, rollingUpdateOf("101%", "0")), []string{"Invalid value: spec.rollingUpdate.maxSurge"}},
		{"a DaemonSet is rolled by percentages or numbers", all(daemonSet, rollingUpdateOf("half", "-1")),
			[]string{"Invalid value: spec.rollingUpdate.maxSurge", "Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a DaemonSet is not rolled by no pod", all(daemonSet, rollingUpdate(intstr.FromInt32(0))), []string{"Invalid value: spec.rollingUpdate"}},
	})
}

func TestWorkloadUpdate(t *testing.T) {
	const headless = model.ServiceTypeHeadless
	deployment, statefulSet, daemonSet := workload(model.WorkloadDeployment), workload(model.WorkloadStatefulSet), workload(model.WorkloadDaemonSet)
	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"a StatefulSet is scaled", all(statefulSet, replicas(1)), all(statefulSet, replicas(3)), nil},
		{"a StatefulSet gets another limit", statefulSet, all(statefulSet, rollingUpdateOf("", "2")), nil},
		{"a DaemonSet gets no replicas", daemonSet, all(daemonSet, replicas(3)), []string{"Forbidden: spec.replicas"}},
		{"a Deployment becomes no StatefulSet", deployment, statefulSet, []string{"Invalid value: spec.workload"}},
		{"a StatefulSet becomes no DaemonSet", statefulSet, daemonSet, []string{"Invalid value: spec.workload"}},
		{"a DaemonSet becomes no Deployment", daemonSet, all(deployment, replicas(1)), []string{"Invalid value: spec.workload"}},

		{"the Service of a Deployment becomes headless", deployment, serviceType(headless), nil},
		{"the Service of a DaemonSet becomes headless", daemonSet, all(daemonSet, serviceType(headless)), nil},
		{"the Service of a StatefulSet changes its type", all(statefulSet, serviceType(model.ServiceTypeClusterIP)), all(statefulSet, serviceType(model.ServiceTypeNodePort)), nil},
		{"the Service of a StatefulSet leaves its type to the ports", all(statefulSet, serviceType(model.ServiceTypeClusterIP)), statefulSet, nil},
		{"the Service of a StatefulSet does not become headless", statefulSet, all(statefulSet, serviceType(headless)), []string{"Forbidden: spec.serviceType"}},
		{"the Service of a StatefulSet stays headless", all(statefulSet, serviceType(headless)), statefulSet, []string{"Forbidden: spec.serviceType"}},
		{"the Service of a StatefulSet does not become headless before there is one", all(statefulSet, ports()), all(statefulSet, ports(), serviceType(headless)),
			[]string{"Forbidden: spec.serviceType"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			row.old(old)
			row.new(box)
			box.ResourceVersion, old.ResourceVersion = "1", "1"
			errs := validateUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

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
