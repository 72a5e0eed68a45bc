// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Rule is one of the rules of boxes, in CEL.
type Rule struct {
	// Path is where the rule is in the schema; [] are the elements of a list, and nothing is the whole object.
	Path    string
	Rule    string
	Message string
}

const exactlyOneHandler = "[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].filter(given, given).size() == 1"

// Rules are the rules for boxes that depend on several fields or on the old object, and that CEL can express at a cost that the API
// server accepts.
var Rules = []Rule{
	{"", "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && self.metadata.name.size() <= 63",
		"metadata.name must be a DNS-1035 label"},
	{"", "self.spec.workload != 'StatefulSet' || self.metadata.name.size() <= 52",
		"metadata.name must be no more than 52 characters when workload is StatefulSet"},

	{"spec", "self.workload == oldSelf.workload", "workload is immutable"},
	{"spec", "self.strategy != 'Recreate' || self.workload == 'Deployment'",
		"strategy must be RollingUpdate unless workload is Deployment"},
	{"spec", "!has(self.rollout) || !has(self.rollout.type) || self.workload != 'DaemonSet'",
		"rollout.type may not be set when workload is DaemonSet"},
	{"spec", "!has(self.rollout) || !has(self.rollout.type) || self.rollout.type == 'Canary' || self.workload != 'StatefulSet'",
		"rollout.type must be Canary when workload is StatefulSet"},
	{"spec", "!has(self.rollout) || !has(self.rollout.type) || self.strategy != 'Recreate'",
		"rollout.type may not be set when strategy is Recreate"},
	{"spec", "self.resourceType == 'custom' || !has(self.resources)",
		"resources may be given for resourceType custom only"},
	{"spec", "!has(self.ports) || !has(self.serviceType) || self.serviceType in ['NodePort', 'LoadBalancer']" +
		" || self.ports.all(p, !has(p.nodePort) || p.nodePort == 0)",
		"nodePort may not be used with this serviceType"},
	{"spec", "!has(self.volumeMounts) || has(self.podTemplate) || self.volumeMounts.all(m," +
		" (has(self.volumes) && self.volumes.exists(v, v.name == m.name))" +
		" || (has(self.storage) && self.storage.exists(s, s.name == m.name)))",
		"volumeMounts must name one of volumes or storage"},
	{"spec", "!has(self.containers) || !has(self.initContainers)" +
		" || self.containers.all(c, !self.initContainers.exists(i, i.name == c.name))",
		"names of containers and initContainers must differ"},
	{"spec", "!has(self.containers) || !has(self.name) || self.containers.all(c, c.name != self.name)",
		"a container may not have the name of the main container"},
	{"spec", "!has(self.ingress) || (has(self.ports) && self.ports.exists(p, p.protocol == 'TCP'))",
		"ingress needs a port with protocol TCP"},
	{"spec", "!has(self.route) || (has(self.ports) && self.ports.exists(p, p.protocol == 'TCP'))",
		"route needs a port with protocol TCP"},
	{"spec", "!has(self.autoscaling) || self.workload != 'DaemonSet'",
		"autoscaling may not be set when workload is DaemonSet"},

	{"spec.rollout", "has(self.type) || !has(self.steps) || self.steps.size() == 0", "steps may not be set without type"},
	{"spec.rollout", "!has(self.type) || self.type != 'Canary' || (has(self.steps) && self.steps.size() > 0 && self.steps.all(s, has(s.weight) && s.weight > 0))",
		"each step of type Canary must have a weight, and there must be one step"},
	{"spec.rollout", "!has(self.type) || self.type != 'BlueGreen' || !has(self.steps) || self.steps.all(s, !has(s.weight) || s.weight == 0)",
		"steps of type BlueGreen may not have a weight"},

	{"spec.ports", "self.all(p, !has(p.name) || self.exists_one(other, has(other.name) && other.name == p.name))",
		"names of ports must differ"},
	{"spec.envs.[]", "!has(self.valueFrom) || !has(self.value) || self.value == ''",
		"value may not be set when valueFrom is"},
	{"spec.readinessProbe", exactlyOneHandler, "a probe must have exactly one handler"},
	{"spec.livenessProbe", exactlyOneHandler, "a probe must have exactly one handler"},
	{"spec.startupProbe", exactlyOneHandler, "a probe must have exactly one handler"},
	{"spec.livenessProbe", "!has(self.successThreshold) || self.successThreshold == 1",
		"successThreshold of a liveness probe must be 1"},
	{"spec.startupProbe", "!has(self.successThreshold) || self.successThreshold == 1",
		"successThreshold of a startup probe must be 1"},
	{"spec.autoscaling", "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
		"minReplicas may not exceed maxReplicas"},
	{"spec.autoscaling", "has(self.cpu) || has(self.memory) || (has(self.metrics) && self.metrics.size() > 0)",
		"autoscaling must have at least one metric"},
	{"spec.disruptionBudget", "has(self.minAvailable) != has(self.maxUnavailable)",
		"exactly one of minAvailable and maxUnavailable must be set"},
	{"spec.service", "!has(self.sessionAffinityConfig) || (has(self.sessionAffinity) && self.sessionAffinity == 'ClientIP')",
		"sessionAffinityConfig needs sessionAffinity ClientIP"},
}

// LeftOut is what boxes have and the definition cannot.
var LeftOut = []string{
	"defaults that follow other fields: the container's name, target ports, names of several ports, replicas of a DaemonSet and of an autoscaled box",
	"the form of rollingUpdate: a structural schema has no value that is either an object or not, so any is taken",
	"what Kubernetes requires of volumes, containers and the pod template beyond the form of their fields, and of the pod template after it was merged",
	"the cluster's range of node ports, and the requester's own rights to what the box will make",
	"warnings, and the selectable field status.ready",
}

func addRules(root *apiextensionsv1.JSONSchemaProps) error {
	for _, rule := range Rules {
		err := at(root, rule.Path, func(s *apiextensionsv1.JSONSchemaProps) {
			s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: rule.Rule, Message: rule.Message})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
