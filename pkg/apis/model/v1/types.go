// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// SelectorLabel is the label that selects the pods of a box. Its value is the name of the box.
	SelectorLabel = "modelbox"

	// RenderHashAnnotation is set on every child of a box. Its value identifies what the box asked for
	// when the child was last written.
	RenderHashAnnotation = "model.github.com/render-hash"

	// AutoscaledAnnotation is set on the Deployment of a box while an autoscaler of the Deployment decides the number
	// of pods, and after it has gone until the box asks for another number. Its value is the spec.replicas of the
	// box that does not count meanwhile.
	AutoscaledAnnotation = "model.github.com/autoscaled"

	// AdoptAnnotation on a box, with the value "true", lets the box take over a Deployment and a Service of its
	// name that nobody controls. Without it, such objects are left alone.
	AdoptAnnotation = "model.github.com/adopt"
)

// ServiceType says how the ports of a box are reached.
type ServiceType string

const (
	// ServiceTypeClusterIP gives the box a virtual address inside the cluster.
	ServiceTypeClusterIP ServiceType = "ClusterIP"
	// ServiceTypeNodePort adds a port on every node.
	ServiceTypeNodePort ServiceType = "NodePort"
	// ServiceTypeLoadBalancer adds an address from the cloud's load balancer.
	ServiceTypeLoadBalancer ServiceType = "LoadBalancer"
	// ServiceTypeHeadless gives the box a DNS name that resolves to its pods, and no virtual address.
	ServiceTypeHeadless ServiceType = "Headless"
)

// ResourceType is a size class of the main container.
type ResourceType string

const (
	// ResourceTypeSmall is 1 CPU and 2Gi of memory.
	ResourceTypeSmall ResourceType = "small"
	// ResourceTypeMedium is 2 CPUs and 4Gi of memory.
	ResourceTypeMedium ResourceType = "medium"
	// ResourceTypeLarge is 4 CPUs and 8Gi of memory.
	ResourceTypeLarge ResourceType = "large"
	// ResourceTypeCustom takes what spec.resources says.
	ResourceTypeCustom ResourceType = "custom"
)

// DefaultProbesPolicy says whether a box gets probes that it does not define.
type DefaultProbesPolicy string

const (
	// DefaultProbesEnabled injects the probes that the box leaves out.
	DefaultProbesEnabled DefaultProbesPolicy = "Enabled"
	// DefaultProbesDisabled leaves the main container with the probes that the box gives, or none.
	DefaultProbesDisabled DefaultProbesPolicy = "Disabled"
)

// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBox is one application: an image with replicas, ports, configuration and probes. The server turns it into
// a Deployment and, when it has ports, a Service of the same name, and keeps both as the box says.
type ModelBox struct {
	metav1.TypeMeta `json:",inline"`

	// Standard object metadata. The name is also the name of the box's Deployment and Service and the value of the
	// pods' "modelbox" label, so it must be a DNS-1035 label of at most 63 characters: lower case letters, digits
	// and '-', starting with a letter.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// What the application should be.
	Spec ModelBoxSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// What the application is, as last observed by the controller. Read-only.
	// +optional
	Status ModelBoxStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// ModelBoxSpec is the desired state of a ModelBox.
type ModelBoxSpec struct {
	// Name of the main container, a DNS-1123 label, such as "nginx". Defaults to metadata.name.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`

	// Image of the main container, such as "nginx:1.7.9". Required.
	Image string `json:"image" protobuf:"bytes,2,opt,name=image"`

	// Command of the main container, in place of the image's entrypoint. Defaults to the image's own.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty" protobuf:"bytes,3,rep,name=command"`

	// Arguments of the main container's command. Defaults to the image's own.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty" protobuf:"bytes,4,rep,name=args"`

	// Number of pods. Defaults to 1. 0 stops the application and keeps everything else.
	// +optional
	Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,5,opt,name=replicas"`

	// How many pods a rolling update may add and may take away at a time: a share of the replicas from "1%" to
	// "100%", or a number of pods above 0. It is both maxSurge (rounded up) and maxUnavailable (rounded down) of
	// the Deployment. Defaults to "25%".
	// +optional
	RollingUpdate *intstr.IntOrString `json:"rollingUpdate,omitempty" protobuf:"bytes,6,opt,name=rollingUpdate"`

	// Seconds that a new pod must be ready without a container crashing before it counts as available, from 0 to
	// 599. Defaults to 3.
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty" protobuf:"varint,7,opt,name=minReadySeconds"`

	// Ports the application serves. Without ports there is no Service. targetPort defaults to port, protocol to
	// TCP; names such as "tcp-80" are filled in when there are several ports. A targetPort that is a string names
	// a container port. Example: {port: 80, targetPort: 8080, nodePort: 30010}.
	// +optional
	// +patchMergeKey=port
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	Ports []corev1.ServicePort `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"port" protobuf:"bytes,8,rep,name=ports"`

	// How the ports are reached: ClusterIP, NodePort, LoadBalancer or Headless. When it is left out, a box with a
	// nodePort is NodePort and any other box ClusterIP; the choice follows the ports and is not stored.
	// +optional
	ServiceType ServiceType `json:"serviceType,omitempty" protobuf:"bytes,9,opt,name=serviceType,casttype=ServiceType"`

	// Size of the main container, as both its requests and its limits: small (1 CPU, 2Gi), medium (2 CPU, 4Gi),
	// large (4 CPU, 8Gi), or custom, which takes what resources says. Defaults to custom.
	// +optional
	ResourceType ResourceType `json:"resourceType,omitempty" protobuf:"bytes,10,opt,name=resourceType,casttype=ResourceType"`

	// Compute resources of the main container, for resourceType custom only. Example:
	// {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}. Defaults to none.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,11,opt,name=resources"`

	// Environment variables of the main container.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	Envs []corev1.EnvVar `json:"envs,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,12,rep,name=envs"`

	// ConfigMaps and Secrets whose keys become environment variables of the main container. A later one wins over
	// an earlier one, envs over both.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty" protobuf:"bytes,13,rep,name=envFrom"`

	// Further containers that run beside the main container in every pod.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	Containers []corev1.Container `json:"containers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,14,rep,name=containers"`

	// Containers that run one after the other, each to its end, before the main container starts. One with
	// restartPolicy Always keeps running as a sidecar.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	InitContainers []corev1.Container `json:"initContainers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,15,rep,name=initContainers"`

	// When the main container takes traffic. Defaults, for a box with a TCP port, to a TCP check of the first one.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty" protobuf:"bytes,16,opt,name=readinessProbe"`

	// When the main container is restarted. Defaults, for a box with a TCP port, to a TCP check of the first one
	// together with a startupProbe.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty" protobuf:"bytes,17,opt,name=livenessProbe"`

	// How long the main container may take to start before livenessProbe counts. Defaults, where livenessProbe is
	// injected, to the same check for up to five minutes.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty" protobuf:"bytes,18,opt,name=startupProbe"`

	// Enabled injects the probes that the box does not define; Disabled leaves them out. Defaults to Enabled.
	// +optional
	DefaultProbes DefaultProbesPolicy `json:"defaultProbes,omitempty" protobuf:"bytes,19,opt,name=defaultProbes,casttype=DefaultProbesPolicy"`

	// Volumes that the containers of the box can mount.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge,retainKeys
	// +listType=map
	// +listMapKey=name
	Volumes []corev1.Volume `json:"volumes,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,20,rep,name=volumes"`

	// Where the main container mounts them.
	// +optional
	// +patchMergeKey=mountPath
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=mountPath
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty" patchStrategy:"merge" patchMergeKey:"mountPath" protobuf:"bytes,21,rep,name=volumeMounts"`

	// ServiceAccount that the pods run as. Defaults to the namespace's "default".
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty" protobuf:"bytes,22,opt,name=serviceAccountName"`

	// Secrets in the box's namespace with the credentials of the image registries.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,23,rep,name=imagePullSecrets"`

	// Overlay over the pod template that all the other fields make, merged into it last, by strategic merge: the way
	// to everything that has no field of its own. Lists merge by their keys, so a container of the name in spec.name
	// adds to the main one. It may not change the "modelbox" label. What may be in it is what may be in the pod
	// template of a Deployment. Example: {spec: {nodeSelector: {disk: ssd}}}. Defaults to none.
	// +optional
	PodTemplate *corev1.PodTemplateSpec `json:"podTemplate,omitempty" protobuf:"bytes,25,opt,name=podTemplate"`

	// True leaves the Deployment and the Service as they are: changes of the box wait until it is false again.
	// Defaults to false.
	// +optional
	Paused bool `json:"paused,omitempty" protobuf:"varint,24,opt,name=paused"`
}

// The types of a box's conditions.
const (
	// ConditionReady is True when every child is what the spec says, the rollout of this generation is complete
	// and the application is reachable as asked.
	ConditionReady = "Ready"
	// ConditionAvailable is True when enough replicas serve, although a rollout may be running.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while a rollout is running.
	ConditionProgressing = "Progressing"
	// ConditionApplied is True when every child is what the spec says.
	ConditionApplied = "Applied"
	// ConditionStalled is True when the box will not become what it says until somebody does something, and is
	// not there otherwise. Tools that wait for a box, such as Helm, give up on it.
	ConditionStalled = "Stalled"
)

// The reasons of a box's conditions. Ready also takes the reason that the cluster gives for a failing pod, such as
// ImagePullBackOff or CrashLoopBackOff.
const (
	// ReasonPending: the controller has not seen the box yet.
	ReasonPending = "Pending"
	// ReasonReady: the box is what it says.
	ReasonReady = "Ready"
	// ReasonStopped: the box is what it says, which is no pods at all.
	ReasonStopped = "Stopped"
	// ReasonNotApplied: a child is not what the box says; Applied tells why.
	ReasonNotApplied = "NotApplied"
	// ReasonPaused: spec.paused keeps a child from being what the box says.
	ReasonPaused = "Paused"
	// ReasonProgressing: a rollout is running.
	ReasonProgressing = "Progressing"
	// ReasonRolloutComplete: every pod runs the current pod template and is available.
	ReasonRolloutComplete = "RolloutComplete"
	// ReasonProgressDeadlineExceeded: a rollout made no progress for ten minutes.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonLoadBalancerPending: no load balancer has given the Service an address.
	ReasonLoadBalancerPending = "LoadBalancerPending"
	// ReasonApplied: every child is what the box says.
	ReasonApplied = "Applied"
	// ReasonNotOwned: the name of a child is taken by an object that does not belong to the box.
	ReasonNotOwned = "NotOwned"
	// ReasonChildBeingDeleted: a child is being deleted and will be created again when it is gone.
	ReasonChildBeingDeleted = "ChildBeingDeleted"
	// ReasonForbidden: the cluster does not let the server write a child.
	ReasonForbidden = "Forbidden"
	// ReasonQuotaExceeded: a child does not fit in the namespace's quota.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonInvalid: the cluster refuses a child as invalid.
	ReasonInvalid = "Invalid"
	// ReasonConflict: somebody else insists on a field of a child.
	ReasonConflict = "Conflict"
	// ReasonError: a child could not be written for a reason that is likely to pass.
	ReasonError = "Error"
)

// MaxPodNames is how many pod names a status lists.
const MaxPodNames = 100

// ModelBoxStatus is the observed state of a ModelBox.
type ModelBoxStatus struct {
	// The generation of the box that this status was computed for. When it is less than metadata.generation, the
	// rest of the status is about an older spec.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// Number of pods that the Deployment is asked for: spec.replicas, unless an autoscaler of the Deployment decides.
	// Not set while there is no Deployment.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty" protobuf:"varint,12,opt,name=desiredReplicas"`

	// Number of pods that exist and are not terminating.
	// +optional
	Replicas int32 `json:"replicas,omitempty" protobuf:"varint,2,opt,name=replicas"`

	// Number of pods that run the current pod template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty" protobuf:"varint,3,opt,name=updatedReplicas"`

	// Number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty" protobuf:"varint,4,opt,name=readyReplicas"`

	// Number of pods that have been ready for spec.minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty" protobuf:"varint,5,opt,name=availableReplicas"`

	// Label selector of the pods in its string form, such as "modelbox=web": what the scale subresource reports.
	// +optional
	Selector string `json:"selector,omitempty" protobuf:"bytes,6,opt,name=selector"`

	// Names of the pods, sorted; at most 100.
	// +optional
	// +listType=atomic
	PodNames []string `json:"podNames,omitempty" protobuf:"bytes,7,rep,name=podNames"`

	// Number of pods that podNames leaves out.
	// +optional
	PodNamesOmitted int32 `json:"podNamesOmitted,omitempty" protobuf:"varint,8,opt,name=podNamesOmitted"`

	// How the box is reached inside the cluster, such as "web.default.svc:80". Empty without ports.
	// +optional
	Address string `json:"address,omitempty" protobuf:"bytes,9,opt,name=address"`

	// The ports on every node that lead to the box.
	// +optional
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	NodePorts []NodePort `json:"nodePorts,omitempty" protobuf:"bytes,10,rep,name=nodePorts"`

	// Ready, Available, Progressing and Applied; Stalled while it is True.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,11,rep,name=conditions"`
}

// NodePort is the node port of one of the box's ports.
type NodePort struct {
	// The port of the box, as in spec.ports.
	Port int32 `json:"port" protobuf:"varint,1,opt,name=port"`

	// The protocol of the port: TCP, UDP or SCTP. Defaults to TCP.
	// +optional
	// +default="TCP"
	Protocol corev1.Protocol `json:"protocol,omitempty" protobuf:"bytes,2,opt,name=protocol,casttype=k8s.io/api/core/v1.Protocol"`

	// The port on every node.
	NodePort int32 `json:"nodePort" protobuf:"varint,3,opt,name=nodePort"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxList is a list of ModelBoxes.
type ModelBoxList struct {
	metav1.TypeMeta `json:",inline"`

	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The boxes.
	Items []ModelBox `json:"items" protobuf:"bytes,2,rep,name=items"`
}
