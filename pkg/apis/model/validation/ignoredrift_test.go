// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestIgnoreDrift(t *testing.T) {
	ignore := func(drift model.ModelBoxIgnoreDrift) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.IgnoreDrift = &drift }
	}
	ofDeployment := func(paths ...string) func(*model.ModelBox) {
		return ignore(model.ModelBoxIgnoreDrift{Deployment: paths})
	}
	ofService := func(paths ...string) func(*model.ModelBox) { return ignore(model.ModelBoxIgnoreDrift{Service: paths}) }
	const deployment, service = "Invalid value: spec.ignoreDrift.deployment[0]", "Invalid value: spec.ignoreDrift.service[0]"
	check(t, []row{
		{"none is accepted", ignore(model.ModelBoxIgnoreDrift{}), nil},
		{"a field of the spec is accepted", ofDeployment("spec.replicas"), nil},
		{"fields of all containers are accepted", ofDeployment("spec.template.spec.containers[*].resources"), nil},
		{"an annotation is accepted", ofDeployment("metadata.annotations[example.com/team]", "spec.template.metadata.annotations[example.com/team]"), nil},
		{"a label of a Service is accepted", ofService("metadata.labels.team"), nil},
		{"fields of each kind are accepted", ignore(model.ModelBoxIgnoreDrift{
			StatefulSet: []string{"spec.replicas"}, DaemonSet: []string{"spec.minReadySeconds"}, Ingress: []string{"spec.tls"},
			HTTPRoute: []string{"spec.hostnames"}, GRPCRoute: []string{"spec.hostnames"}, HorizontalPodAutoscaler: []string{"spec.maxReplicas"}, PodDisruptionBudget: []string{"spec.minAvailable"},
		}), nil},
		{"it has a path", ofDeployment(""), []string{deployment}},
		{"a path is there once", ofDeployment("spec.replicas", "spec.replicas"), []string{"Duplicate value: spec.ignoreDrift.deployment[1]"}},
		{"there is such a field", ofDeployment("spec.replica"), []string{deployment}},
		{"a field is one of the kind", ofService("spec.replicas"), []string{service}},
		{"it is not all of the spec", ofDeployment("spec"), []string{deployment}},
		{"it is not all of the pods", ofDeployment("spec.template.spec"), []string{deployment}},
		{"it is not all labels", ofDeployment("metadata.labels"), []string{deployment}},
		{"it is not all annotations of the pods", ofDeployment("spec.template.metadata.annotations"), []string{deployment}},
		{"it is not the selector", ofDeployment("spec.selector"), []string{deployment}},
		{"it is not the selector of a Service", ofService("spec.selector"), []string{service}},
		{"it is not the label of the selector", ofDeployment("spec.template.metadata.labels.modelbox"), []string{deployment}},
		{"it is not the label of a stack", ofService("metadata.labels[model.github.com/stack]"), []string{service}},
		{"it is not the record", ofDeployment("metadata.annotations[model.github.com/record]"), []string{deployment}},
		{"it is not the owner", ofDeployment("metadata.ownerReferences[*]"), []string{deployment}},
		{"it is not the status", ofDeployment("status.replicas"), []string{deployment}},
		{"it is not the kind", ofDeployment("kind"), []string{deployment}},
	})
}
