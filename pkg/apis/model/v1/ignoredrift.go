// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

// ModelBoxIgnoreDrift are the fields of the children that other field managers may own, by the kind of the child. A field is a
// path, and includes everything below it: "spec.template.spec.containers[*].resources" are the resources of all containers,
// "spec.template.spec.containers[name=app].resources" are the resources of one container, and
// "metadata.annotations[example.com/team]" is an annotation.
type ModelBoxIgnoreDrift struct {
	// deployment are fields of the Deployment. Defaults to none.
	//
	// Example: ["spec.template.spec.containers[*].resources"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Deployment []string `json:"deployment,omitempty" protobuf:"bytes,1,rep,name=deployment"`

	// statefulSet are fields of the StatefulSet. Defaults to none.
	//
	// Example: ["spec.replicas"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	StatefulSet []string `json:"statefulSet,omitempty" protobuf:"bytes,2,rep,name=statefulSet"`

	// daemonSet are fields of the DaemonSet. Defaults to none.
	//
	// Example: ["spec.template.spec.containers[*].resources"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	DaemonSet []string `json:"daemonSet,omitempty" protobuf:"bytes,3,rep,name=daemonSet"`

	// job are fields of the Job. Defaults to none.
	//
	// Example: ["spec.parallelism"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Job []string `json:"job,omitempty" protobuf:"bytes,10,rep,name=job"`

	// cronJob are fields of the CronJob. Defaults to none.
	//
	// Example: ["spec.suspend"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	CronJob []string `json:"cronJob,omitempty" protobuf:"bytes,11,rep,name=cronJob"`

	// service are fields of the Services. Defaults to none.
	//
	// Example: ["spec.externalTrafficPolicy"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Service []string `json:"service,omitempty" protobuf:"bytes,4,rep,name=service"`

	// ingress are fields of the Ingress. Defaults to none.
	//
	// Example: ["spec.tls"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Ingress []string `json:"ingress,omitempty" protobuf:"bytes,5,rep,name=ingress"`

	// httpRoute are fields of the HTTPRoute. Defaults to none.
	//
	// Example: ["spec.hostnames"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	HTTPRoute []string `json:"httpRoute,omitempty" protobuf:"bytes,6,rep,name=httpRoute"`

	// grpcRoute are fields of the GRPCRoute. Defaults to none.
	//
	// Example: ["spec.hostnames"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	GRPCRoute []string `json:"grpcRoute,omitempty" protobuf:"bytes,12,rep,name=grpcRoute"`

	// horizontalPodAutoscaler are fields of the HorizontalPodAutoscaler. Defaults to none.
	//
	// Example: ["spec.maxReplicas"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	HorizontalPodAutoscaler []string `json:"horizontalPodAutoscaler,omitempty" protobuf:"bytes,7,rep,name=horizontalPodAutoscaler"`

	// podDisruptionBudget are fields of the PodDisruptionBudget. Defaults to none.
	//
	// Example: ["spec.minAvailable"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	PodDisruptionBudget []string `json:"podDisruptionBudget,omitempty" protobuf:"bytes,8,rep,name=podDisruptionBudget"`

	// networkPolicy are fields of the NetworkPolicies. Defaults to none.
	//
	// Example: ["spec.egress"]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	NetworkPolicy []string `json:"networkPolicy,omitempty" protobuf:"bytes,9,rep,name=networkPolicy"`
}
