// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// The defaults of fields that have one regardless of other fields.
const (
	DefaultReplicas        = int32(1)
	DefaultRollingUpdate   = "25%"
	DefaultMinReadySeconds = int32(3)
	DefaultCheckInterval   = "30s"
)

// defaultPath is the path of an Ingress and of a route without rules. With path type "Prefix", it matches all requests.
const defaultPath = "/"

// DefaultProgressDeadlineSeconds is what spec.progressDeadlineSeconds is taken for where it is not given, and
// DefaultMaxRestarts is the default of spec.rollout.maxRestarts.
const (
	DefaultProgressDeadlineSeconds = int32(600)
	DefaultMaxRestarts             = int32(3)
)

// MaxRevisionHistoryLimit is the greatest spec.revisionHistoryLimit, ten times the default of Kubernetes: each former revision of a
// box has a record of the box, too.
const MaxRevisionHistoryLimit = int32(100)

func addDefaultingFuncs(scheme *runtime.Scheme) error {
	return RegisterDefaults(scheme)
}

// SetDefaults_ModelBox names the main container after the box, and sets all defaults of its spec. The parts of a spec
// have no functions of this kind, which the generator would apply to the boxes of a ModelStack, too: what a stack leaves
// out is left to the box.
func SetDefaults_ModelBox(box *ModelBox) {
	if box.Spec.Name == "" {
		box.Spec.Name = box.Name
	}
	setAutoscalingDefaults(&box.Spec)
	setSpecDefaults(&box.Spec)
	for i := range box.Spec.Configs {
		setConfigDefaults(&box.Spec.Configs[i])
	}
	for i := range box.Spec.Storage {
		setStorageDefaults(&box.Spec.Storage[i])
	}
	setExposureDefaults(&box.Spec)
}

// SetDefaults_NetworkSpec connects pods to a bridge, as far as nothing else is said.
func SetDefaults_NetworkSpec(spec *NetworkSpec) {
	if spec.Type == "" {
		spec.Type = NetworkTypeBridge
	}
}

// SetDefaults_PodDebuggerSpec takes the default profile of kubectl for few pods, and leaves them as they are in the end.
func SetDefaults_PodDebuggerSpec(spec *PodDebuggerSpec) {
	if spec.Profile == "" {
		spec.Profile = DebugProfileGeneral
	}
	if spec.MaxPods == nil {
		spec.MaxPods = ptr.To(DefaultPodDebuggerMaxPods)
	}
	if spec.WhenDeleted == "" {
		spec.WhenDeleted = PodDebuggerRetain
	}
}

// SetDefaults_ModelStackSpec sets the order of the components. It does not set the defaults of their boxes, so that another
// controller, such as an autoscaler, can set the fields that the stack leaves out. The only exception is the target of a port,
// which a port cannot be without.
func SetDefaults_ModelStackSpec(spec *ModelStackSpec) {
	if spec.Rollout == "" {
		spec.Rollout = ComponentsOrdered
	}
	if spec.Deletion == "" {
		spec.Deletion = ComponentsOrdered
	}
	for i := range spec.Components {
		if box := spec.Components[i].Box; box != nil {
			for j := range box.Ports {
				setTargetPortDefault(&box.Ports[j])
			}
		}
	}
}

// setSpecDefaults fills in the fields whose default does not depend on the rest of the object.
// spec.serviceType is left alone: what it means when empty follows the ports.
func setSpecDefaults(spec *ModelBoxSpec) {
	if spec.Workload == "" {
		spec.Workload = WorkloadDeployment
	}
	if spec.Replicas == nil && spec.Workload.HasReplicas() {
		spec.Replicas = ptr.To(DefaultReplicas)
	}
	if spec.Strategy == "" {
		spec.Strategy = StrategyRollingUpdate
	}
	setRollingUpdateDefaults(spec)
	if spec.MinReadySeconds == nil && !spec.Workload.RunsToCompletion() {
		spec.MinReadySeconds = ptr.To(DefaultMinReadySeconds)
	}
	if spec.ResourceType == "" {
		spec.ResourceType = ResourceTypeCustom
	}
	if spec.DefaultProbes == "" {
		spec.DefaultProbes = DefaultProbesEnabled
	}
	setPortDefaults(spec.Ports)
	setJobDefaults(spec)
	setRolloutDefaults(spec.Rollout)
}

// setJobDefaults gives each Job a deadline. A box with Jobs has a rollout, whose status has their results.
func setJobDefaults(spec *ModelBoxSpec) {
	for _, job := range []*ModelBoxJob{spec.Before, spec.After} {
		if job == nil {
			continue
		}
		if spec.Rollout == nil {
			spec.Rollout = &ModelBoxRollout{}
		}
		if job.BackoffLimit == nil {
			job.BackoffLimit = ptr.To(DefaultBackoffLimit)
		}
		if job.ActiveDeadlineSeconds == nil {
			job.ActiveDeadlineSeconds = ptr.To(DefaultJobDeadlineSeconds)
		}
	}
}

// setRolloutDefaults does nothing about a rollout that fails, as Kubernetes.
func setRolloutDefaults(rollout *ModelBoxRollout) {
	if rollout == nil {
		return
	}
	if rollout.OnFailure == "" {
		rollout.OnFailure = RolloutFailureNone
	}
	if rollout.MaxRestarts == nil {
		rollout.MaxRestarts = ptr.To(DefaultMaxRestarts)
	}
	for i := range rollout.Checks {
		setCheckDefaults(&rollout.Checks[i])
	}
}

// setCheckDefaults sets count and failureLimit: a step continues after the first success, and the rollout fails with the first
// failure.
func setCheckDefaults(check *ModelBoxRolloutCheck) {
	if check.Interval == "" {
		check.Interval = DefaultCheckInterval
	}
	if check.Count == nil {
		check.Count = ptr.To(int32(1))
	}
	if check.FailureLimit == nil {
		check.FailureLimit = ptr.To(int32(0))
	}
}

// setAutoscalingDefaults lets the box start with as many pods as it has at least.
func setAutoscalingDefaults(spec *ModelBoxSpec) {
	autoscaling := spec.Autoscaling
	if autoscaling == nil || !spec.Workload.HasReplicas() {
		return
	}
	if autoscaling.MinReplicas == nil {
		autoscaling.MinReplicas = ptr.To[int32](1)
	}
	if spec.Replicas == nil && *autoscaling.MinReplicas > 0 {
		spec.Replicas = ptr.To(*autoscaling.MinReplicas)
	}
}

// setExposureDefaults routes all paths to the box. Ports have no default, because it follows the ports of the box.
func setExposureDefaults(spec *ModelBoxSpec) {
	if ingress := spec.Ingress; ingress != nil {
		setPathDefaults(&ingress.Path, &ingress.PathType)
		for i := range ingress.Paths {
			setPathTypeDefault(&ingress.Paths[i].PathType)
		}
	}
	if route := spec.Route; route != nil {
		setRouteDefaults(route)
	}
	if route := spec.GRPCRoute; route != nil {
		for i := range route.Rules {
			setGRPCRouteRuleDefaults(&route.Rules[i])
		}
	}
}

// setRouteDefaults removes the default path from a route with rules, which cannot have both. So a patch can add rules to a stored
// route.
func setRouteDefaults(route *ModelBoxRoute) {
	if len(route.Rules) == 0 {
		setPathDefaults(&route.Path, &route.PathType)
		return
	}
	if route.Path == defaultPath && route.PathType == networkingv1.PathTypePrefix {
		route.Path, route.PathType = "", ""
	}
	for i := range route.Rules {
		setRouteRuleDefaults(&route.Rules[i])
	}
}

func setRouteRuleDefaults(rule *RouteRule) {
	for i := range rule.Matches {
		match := &rule.Matches[i]
		setPathDefaults(&match.Path, &match.PathType)
		setValueMatchDefaults(match.Headers)
		setValueMatchDefaults(match.QueryParams)
	}
	if redirect := rule.RequestRedirect; redirect != nil && redirect.StatusCode == nil {
		redirect.StatusCode = ptr.To[int32](http.StatusFound)
	}
}

func setGRPCRouteRuleDefaults(rule *GRPCRouteRule) {
	for i := range rule.Matches {
		match := &rule.Matches[i]
		if match.Method != nil && match.Method.Type == "" {
			match.Method.Type = RouteValueMatchExact
		}
		setValueMatchDefaults(match.Headers)
	}
}

func setValueMatchDefaults(matches []RouteValueMatch) {
	for i := range matches {
		if matches[i].Type == "" {
			matches[i].Type = RouteValueMatchExact
		}
	}
}

func setPathDefaults(path *string, pathType *networkingv1.PathType) {
	setPathTypeDefault(pathType)
	if *path == "" && *pathType != networkingv1.PathTypeImplementationSpecific {
		*path = defaultPath
	}
}

func setPathTypeDefault(pathType *networkingv1.PathType) {
	if *pathType == "" {
		*pathType = networkingv1.PathTypePrefix
	}
}

// setConfigDefaults says what a change of the files does.
func setConfigDefaults(config *ModelBoxConfig) {
	if config.Rollout == "" {
		config.Rollout = ConfigRolloutRestart
	}
}

// setStorageDefaults lets one node at a time mount the volume, and keeps it when the box goes.
func setStorageDefaults(storage *ModelBoxStorage) {
	if len(storage.AccessModes) == 0 {
		storage.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	if storage.Retain == nil {
		storage.Retain = ptr.To(true)
	}
}

// setRollingUpdateDefaults fills in what an object leaves out, as the Deployment API does. One that leaves out both says
// nothing, and is refused.
func setRollingUpdateDefaults(spec *ModelBoxSpec) {
	step := intstr.FromString(DefaultRollingUpdate)
	if spec.Workload != WorkloadDeployment {
		return
	}
	if spec.RollingUpdate == nil {
		spec.RollingUpdate = NewRollingUpdate(step)
	}
	rollingUpdate := spec.RollingUpdate
	switch {
	case rollingUpdate.MaxSurge == nil && rollingUpdate.MaxUnavailable != nil:
		rollingUpdate.MaxSurge = &step
	case rollingUpdate.MaxSurge != nil && rollingUpdate.MaxUnavailable == nil:
		rollingUpdate.MaxUnavailable = &step
	}
}

// setPortDefaults does for the ports what the Service API would do later, so that the box shows what it gets.
func setPortDefaults(ports []corev1.ServicePort) {
	for i := range ports {
		port := &ports[i]
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		setTargetPortDefault(port)
		if port.Name == "" && len(ports) > 1 {
			port.Name = DefaultPortName(port)
		}
	}
}

func setTargetPortDefault(port *corev1.ServicePort) {
	if port.TargetPort == (intstr.IntOrString{}) {
		port.TargetPort = intstr.FromInt32(port.Port)
	}
}

// DefaultPortName is the name of a port that has none, where there are several.
func DefaultPortName(port *corev1.ServicePort) string {
	return fmt.Sprintf("%s-%d", strings.ToLower(string(port.Protocol)), port.Port)
}
