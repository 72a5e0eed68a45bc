// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package childkinds is the table of the kinds of the children of boxes.
package childkinds

import (
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Kind is a kind of the children of boxes.
type Kind struct {
	schema.GroupVersionKind
	// Resource is what paths of the API call the kind.
	Resource string
	// Type is the Go type of the objects, a struct.
	Type reflect.Type
	// IgnoreDrift is the field of spec.ignoreDrift with the fields of the children that other field managers may own. It is empty
	// if they may own none.
	IgnoreDrift string
	// IsOptional says that a cluster may lack the kind, of which the types are in no API of Kubernetes itself.
	IsOptional bool
	// Recovery is what the children say about the boxes of a store that was lost.
	Recovery Recovery
}

// Recovery is what a child says about the box that controls it.
type Recovery string

const (
	// RecordsBox is for children that the box is recorded on.
	RecordsBox Recovery = "RecordsBox"
	// ProvesBox is for children that the garbage collector deletes with the box: as long as there is one, the box was not deleted.
	ProvesBox Recovery = "ProvesBox"
	// None is for children that may stay when the box is deleted, or that a cluster may lack.
	None Recovery = "None"
)

// The kinds of the children of boxes.
var (
	Deployment = Kind{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments",
		Type: reflect.TypeFor[appsv1.Deployment](), IgnoreDrift: "deployment", Recovery: RecordsBox,
	}
	StatefulSet = Kind{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets",
		Type: reflect.TypeFor[appsv1.StatefulSet](), IgnoreDrift: "statefulSet", Recovery: RecordsBox,
	}
	DaemonSet = Kind{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), Resource: "daemonsets",
		Type: reflect.TypeFor[appsv1.DaemonSet](), IgnoreDrift: "daemonSet", Recovery: RecordsBox,
	}
	Job = Kind{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Resource: "jobs",
		Type: reflect.TypeFor[batchv1.Job](), IgnoreDrift: "job", Recovery: RecordsBox,
	}
	CronJob = Kind{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), Resource: "cronjobs",
		Type: reflect.TypeFor[batchv1.CronJob](), IgnoreDrift: "cronJob", Recovery: RecordsBox,
	}
	Service = Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"), Resource: "services",
		Type: reflect.TypeFor[corev1.Service](), IgnoreDrift: "service", Recovery: ProvesBox,
	}
	ConfigMap = Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps",
		Type: reflect.TypeFor[corev1.ConfigMap](), Recovery: ProvesBox,
	}
	PersistentVolumeClaim = Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), Resource: "persistentvolumeclaims",
		Type: reflect.TypeFor[corev1.PersistentVolumeClaim](), Recovery: None,
	}
	Ingress = Kind{
		GroupVersionKind: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Resource: "ingresses",
		Type: reflect.TypeFor[networkingv1.Ingress](), IgnoreDrift: "ingress", Recovery: ProvesBox,
	}
	HTTPRoute = Kind{
		GroupVersionKind: gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"), Resource: "httproutes",
		Type: reflect.TypeFor[gatewayv1.HTTPRoute](), IgnoreDrift: "httpRoute", IsOptional: true, Recovery: None,
	}
	GRPCRoute = Kind{
		GroupVersionKind: gatewayv1.SchemeGroupVersion.WithKind("GRPCRoute"), Resource: "grpcroutes",
		Type: reflect.TypeFor[gatewayv1.GRPCRoute](), IgnoreDrift: "grpcRoute", IsOptional: true, Recovery: None,
	}
	HorizontalPodAutoscaler = Kind{
		GroupVersionKind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), Resource: "horizontalpodautoscalers",
		Type: reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](), IgnoreDrift: "horizontalPodAutoscaler", Recovery: ProvesBox,
	}
	PodDisruptionBudget = Kind{
		GroupVersionKind: policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), Resource: "poddisruptionbudgets",
		Type: reflect.TypeFor[policyv1.PodDisruptionBudget](), IgnoreDrift: "podDisruptionBudget", Recovery: ProvesBox,
	}
	NetworkPolicy = Kind{
		GroupVersionKind: networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), Resource: "networkpolicies",
		Type: reflect.TypeFor[networkingv1.NetworkPolicy](), IgnoreDrift: "networkPolicy", Recovery: ProvesBox,
	}
)

// All returns the table.
func All() []Kind {
	return []Kind{
		Deployment, StatefulSet, DaemonSet, Job, CronJob, Service, ConfigMap, PersistentVolumeClaim, Ingress, HTTPRoute, GRPCRoute,
		HorizontalPodAutoscaler, PodDisruptionBudget, NetworkPolicy,
	}
}

// ByGroup returns the table by API group, without the kinds to leave out. Groups and kinds have the order of the table.
func ByGroup(without ...Kind) [][]Kind {
	var groups [][]Kind
	for _, kind := range All() {
		if slices.Contains(without, kind) {
			continue
		}
		i := slices.IndexFunc(groups, func(group []Kind) bool { return group[0].Group == kind.Group })
		if i < 0 {
			groups = append(groups, []Kind{kind})
		} else {
			groups[i] = append(groups[i], kind)
		}
	}
	return groups
}

// Resources returns the resources of the kinds.
func Resources(kinds []Kind) []string {
	resources := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		resources = append(resources, kind.Resource)
	}
	return resources
}

// ByGroupVersionKind returns the row of a kind, false if boxes have no children of it.
func ByGroupVersionKind(kind schema.GroupVersionKind) (Kind, bool) {
	for _, row := range All() {
		if row.GroupVersionKind == kind {
			return row, true
		}
	}
	return Kind{}, false
}

// Verbs returns what the server does with the children of every kind, as RBAC calls it.
func Verbs() []string { return []string{"get", "list", "watch", "create", "patch", "delete"} }

// GroupResource returns the resource of the kind.
func (k Kind) GroupResource() schema.GroupResource { return k.GroupVersionResource().GroupResource() }

// GroupVersionResource returns the resource of the kind in its version.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

// Object is a child.
type Object interface {
	metav1.Object
	runtime.Object
}

// New returns an empty object of the Go type of the kind.
func (k Kind) New() Object { return reflect.New(k.Type).Interface().(Object) }
