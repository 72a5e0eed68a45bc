// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// SelectorLabel is the label that selects the pods of a box. Its value is the name of the box.
	SelectorLabel = "modelbox"

	// RenderHashAnnotation is set on every child of a box. Its value identifies what the box asked for
	// when the child was last written.
	RenderHashAnnotation = "model.github.com/render-hash"

	// AutoscaledAnnotation is set on the workload of a box while an autoscaler of the workload decides the number of
	// pods, and after it has gone until the box asks for another number. Its value is the spec.replicas of the
	// box that does not count meanwhile.
	AutoscaledAnnotation = "model.github.com/autoscaled"

	// RecordAnnotation is set on the workload of a box, from where the Deployment controller copies it to each
	// ReplicaSet, and on the NetworkAttachmentDefinition of a network. Its value is the box or the network itself, without
	// its status, compressed: from it can be brought back what the store has lost.
	RecordAnnotation = "model.github.com/record"

	// ConfigsHashAnnotation is set on the pods of a box that has configs whose rollout is "Restart". Its value identifies
	// their data, so that a change of it replaces the pods.
	ConfigsHashAnnotation = "model.github.com/configs-hash"

	// ReferencesAnnotation is set on the pods of a box whose spec.restartOn is "References", by the controller in spec.podTemplate. Its
	// value identifies the data of the ConfigMaps and Secrets that the pods refer to, so that a change of the data replaces the pods. It
	// has hashes that only the server can compute.
	ReferencesAnnotation = "model.github.com/references"

	// AdoptAnnotation on a box, with the value "true", lets the box adopt objects that have the names of its children and no
	// controller. Without it, the box leaves such objects alone. On an Ingress, the annotation lets the Service of the name adopt
	// that Ingress; on a Service it does nothing.
	AdoptAnnotation = "model.github.com/adopt"
)

// Which values are accepted is said by tags of the fields where a tag can say it, such as +k8s:minimum=0; package
// validation has the rest. The tags are about fields with their defaults: what a client may leave out, as +optional
// says, can be +k8s:required. The rules of Kubernetes' own types are all in package validation: +k8s:opaqueType leaves
// them out of what is generated here.

// ServiceType says how the ports of a box are reached.
// +enum
// +k8s:enum
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
// +enum
// +k8s:enum
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
// +enum
// +k8s:enum
type DefaultProbesPolicy string

const (
	// DefaultProbesEnabled injects the probes that the box leaves out.
	DefaultProbesEnabled DefaultProbesPolicy = "Enabled"
	// DefaultProbesDisabled leaves the main container with the probes that the box gives, or none.
	DefaultProbesDisabled DefaultProbesPolicy = "Disabled"
)

// DefaultProbe is one of the probes that a box gets although it does not define it.
// +enum
// +k8s:enum
type DefaultProbe string

const (
	// DefaultProbeReadiness is the default of spec.readinessProbe.
	DefaultProbeReadiness DefaultProbe = "Readiness"
	// DefaultProbeLiveness is the default of spec.livenessProbe. Without it there is no default of spec.startupProbe either,
	// which would have nothing to delay.
	DefaultProbeLiveness DefaultProbe = "Liveness"
	// DefaultProbeStartup is the default of spec.startupProbe.
	DefaultProbeStartup DefaultProbe = "Startup"
)

// Workload is the kind of object that runs the pods of a box.
// +enum
// +k8s:enum
type Workload string

const (
	// WorkloadDeployment runs pods that can take each other's place.
	WorkloadDeployment Workload = "Deployment"
	// WorkloadStatefulSet runs pods that keep their names and their volumes.
	WorkloadStatefulSet Workload = "StatefulSet"
	// WorkloadDaemonSet runs a pod on every node.
	WorkloadDaemonSet Workload = "DaemonSet"
	// WorkloadJob runs pods until they have succeeded, once for each change of them.
	WorkloadJob Workload = "Job"
	// WorkloadCronJob runs a Job at each time of a schedule.
	WorkloadCronJob Workload = "CronJob"
)

// ConfigRollout says what a change of a config's data does to the pods of a box.
// +enum
// +k8s:enum
type ConfigRollout string

const (
	// ConfigRolloutRestart replaces the pods, as an update of the image does.
	ConfigRolloutRestart ConfigRollout = "Restart"
	// ConfigRolloutLive changes the mounted files, and leaves it to the application to read them again.
	ConfigRolloutLive ConfigRollout = "Live"
	// ConfigRolloutVersioned makes a new, immutable ConfigMap and replaces the pods: old pods keep the old files.
	ConfigRolloutVersioned ConfigRollout = "Versioned"
)

// Strategy says how an update of a box replaces its pods.
// +enum
// +k8s:enum
type Strategy string

const (
	// StrategyRollingUpdate starts new pods while old ones still serve, as spec.rollingUpdate says.
	StrategyRollingUpdate Strategy = "RollingUpdate"
	// StrategyRecreate stops all old pods before it starts new ones.
	StrategyRecreate Strategy = "Recreate"
)

// PodManagementPolicy is the order in which a StatefulSet creates and deletes pods when it is scaled.
// +enum
// +k8s:enum
type PodManagementPolicy string

const (
	// PodManagementOrderedReady creates one pod at a time, when the one before it is available, and deletes them in reverse order.
	PodManagementOrderedReady PodManagementPolicy = "OrderedReady"
	// PodManagementParallel creates and deletes all pods at once.
	PodManagementParallel PodManagementPolicy = "Parallel"
)

// RollingUpdateType is the form of a RollingUpdate.
type RollingUpdateType int64

const (
	// RollingUpdateInt is one number of pods, in IntVal.
	RollingUpdateInt RollingUpdateType = iota
	// RollingUpdateString is one percentage, in StrVal.
	RollingUpdateString
	// RollingUpdateObject is an object of MaxSurge and MaxUnavailable.
	RollingUpdateObject
)

// RollingUpdate is how many pods a rolling update may add and may take away at a time: one value for both, a number or
// a string, or an object with the fields maxSurge and maxUnavailable.
type RollingUpdate struct {
	// The first three are stored as the IntOrString that this was before there was the object.
	Type   RollingUpdateType `json:"-" protobuf:"varint,1,opt,name=type,casttype=RollingUpdateType"`
	IntVal int32             `json:"-" protobuf:"varint,2,opt,name=intVal"`
	StrVal string            `json:"-" protobuf:"bytes,3,opt,name=strVal"`

	MaxSurge       *intstr.IntOrString `json:"-" protobuf:"bytes,4,opt,name=maxSurge"`
	MaxUnavailable *intstr.IntOrString `json:"-" protobuf:"bytes,5,opt,name=maxUnavailable"`
}

// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=GetRender,verb=get,subresource=render,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=CreateRender,verb=create,subresource=render,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBox,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=GetDiff,verb=get,subresource=diff,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxDiff
// +genclient:method=CreateDiff,verb=create,subresource=diff,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBox,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxDiff
// +genclient:method=CreateRestart,verb=create,subresource=restart,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRestart,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRestart
// +genclient:method=CreateRetry,verb=create,subresource=retry,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRetry,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRetry
// +genclient:method=CreatePromotion,verb=create,subresource=promote,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxPromotion,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxPromotion
// +genclient:method=CreateAbort,verb=create,subresource=abort,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxAbort,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxAbort
// +genclient:method=GetHistory,verb=get,subresource=history,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxHistory
// +genclient:method=CreateRollback,verb=create,subresource=rollback,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRollback,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRollback
// +genclient:method=CreateDebug,verb=create,subresource=debug,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxDebug,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxDebug
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBox is one application: an image with replicas, ports, configuration and probes. The server turns it into
// a Deployment, a StatefulSet, a DaemonSet, a Job or a CronJob and, when it has ports, a Service of the same name, and keeps
// both as the box says.
type ModelBox struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. metadata.name is also the name of the workload and the Service of the box, and
	// the value of the label "modelbox" of its pods. Therefore it must be a DNS-1035 label of at most 63 characters: lower case
	// letters, digits and '-', starting with a letter. With workload "StatefulSet" or "CronJob", it has at most 52 characters.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the application should be. Required.
	//
	// Example: {image: "nginx:1.7.9", replicas: 4, ports: [{port: 80}]}
	Spec ModelBoxSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the application is, as last observed by the controller. Read-only.
	//
	// Example: {observedGeneration: 1, replicas: 4, readyReplicas: 4, address: "web.default.svc:80"}
	// +optional
	Status ModelBoxStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// ModelBoxSpec is the desired state of a ModelBox.
type ModelBoxSpec struct {
	// name is the name of the main container, a DNS-1123 label. Defaults to metadata.name.
	//
	// Example: nginx
	// +optional
	// +k8s:required
	// +k8s:format=k8s-short-name
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`

	// image is the image of the main container. Required.
	//
	// Example: "nginx:1.7.9"
	// +k8s:validation:maxLength=1024
	Image string `json:"image" protobuf:"bytes,2,opt,name=image"`

	// command is what the main container runs in place of its image's entrypoint. Defaults to the image's own.
	//
	// Example: [nginx-debug]
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=1024
	Command []string `json:"command,omitempty" protobuf:"bytes,3,rep,name=command"`

	// args are the arguments of the main container's command. Defaults to the image's own, or to none when command is
	// given.
	//
	// Example: ["-g", "daemon off;"]
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=1024
	Args []string `json:"args,omitempty" protobuf:"bytes,4,rep,name=args"`

	// replicas is the number of pods. 0 stops the application and keeps everything else. While a HorizontalPodAutoscaler
	// scales the workload, and after it has gone until replicas changes, any other number is left out of account. With
	// autoscaling it is what the box starts with, which is its minReplicas unless it is given. May not be set for a
	// DaemonSet, a Job and a CronJob, which have no default either. Defaults to 1.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,5,opt,name=replicas"`

	// workload is the kind of object that runs the pods: "Deployment" for pods that can take each other's place,
	// "StatefulSet" for pods that keep their names and their volumes, "DaemonSet" for a pod on every node, "Job" for pods that run
	// until they have succeeded, "CronJob" for a Job at each time of a schedule. The pods of a
	// StatefulSet with ports have DNS names, such as web-0.web-headless, in the domain of a headless Service: the box's
	// own one if serviceType is "Headless", else one beside it with the name of the box and "-headless". It cannot be
	// changed. Defaults to "Deployment".
	//
	// Example: StatefulSet
	// +optional
	// +k8s:required
	Workload Workload `json:"workload,omitempty" protobuf:"bytes,31,opt,name=workload,casttype=Workload"`

	// job is how a Job runs the pods, for workload "Job", and for the Jobs of workload "CronJob". Defaults to one pod that has to
	// succeed.
	//
	// Example: {backoffLimit: 2, activeDeadlineSeconds: 3600}
	// +optional
	// +k8s:optional
	Job *ModelBoxJobSpec `json:"job,omitempty" protobuf:"bytes,49,opt,name=job"`

	// cronJob is the schedule of workload "CronJob", which requires it. Defaults to none.
	//
	// Example: {schedule: "30 2 * * *", timeZone: Europe/Berlin}
	// +optional
	// +k8s:optional
	CronJob *ModelBoxCronJobSpec `json:"cronJob,omitempty" protobuf:"bytes,50,opt,name=cronJob"`

	// strategy is how an update replaces the pods: "RollingUpdate" starts new ones while old ones still serve,
	// "Recreate", of a Deployment only, stops all old ones first, for an application that cannot run twice at a time. A
	// StatefulSet starts a pod when the old one of its name has stopped. Defaults to "RollingUpdate".
	//
	// Example: Recreate
	// +optional
	// +k8s:required
	Strategy Strategy `json:"strategy,omitempty" protobuf:"bytes,26,opt,name=strategy,casttype=Strategy"`

	// rollingUpdate is how many pods a rolling update may add and remove at a time. It is a single value or an object. A
	// percentage of the replicas from "1%" to "100%", or a number of pods above 0, is both maxSurge (rounded up) and
	// maxUnavailable (rounded down) of the Deployment. With one pod, maxUnavailable is 0, so that the pod stays until the next
	// one is available. An object has maxSurge, maxUnavailable or both, as in a Deployment: a percentage or a number of at least
	// 0, but not both 0. Each defaults to "25%". For a StatefulSet and a DaemonSet, a single value is maxUnavailable. The object
	// of a StatefulSet has only maxUnavailable, above 0. The object of a DaemonSet has one of the two above 0, and the other one
	// is 0 or omitted if 0 is its default. The defaults are 0 for maxSurge and 1 for maxUnavailable. Without rollingUpdate, both
	// replace one pod at a time. It has no effect if strategy is "Recreate". Defaults to "25%".
	//
	// Example: {maxSurge: 1, maxUnavailable: 0}
	// +optional
	// +structType=atomic
	// +k8s:opaqueType
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty" protobuf:"bytes,6,opt,name=rollingUpdate"`

	// minReadySeconds is the time in seconds that a new pod must be ready without a container crashing before it counts
	// as available, from 0 to 599. Not for a Job and a CronJob. Defaults to 3.
	//
	// Example: 10
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty" protobuf:"varint,7,opt,name=minReadySeconds"`

	// progressDeadlineSeconds is how long, in seconds, a rollout may make no progress before it has failed, more than
	// minReadySeconds. Defaults to 600, as for a Deployment.
	//
	// Example: 120
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty" protobuf:"varint,40,opt,name=progressDeadlineSeconds"`

	// podManagementPolicy is the order in which a StatefulSet creates and deletes pods when it is scaled: "OrderedReady" creates
	// one pod at a time, when the one before it is available, "Parallel" creates all pods at once. An update replaces pods as
	// rollingUpdate says in either case. A change replaces the StatefulSet, but not its pods. Without it a new StatefulSet has
	// "OrderedReady", and a StatefulSet that exists keeps its policy. For a StatefulSet only. Defaults to none.
	//
	// Example: Parallel
	// +optional
	// +k8s:optional
	PodManagementPolicy *PodManagementPolicy `json:"podManagementPolicy,omitempty" protobuf:"bytes,42,opt,name=podManagementPolicy,casttype=PodManagementPolicy"`

	// revisionHistoryLimit is the number of former revisions of the pods that are kept, to view them and to roll back to
	// them, from 0 to 100. Without it the workload has the default of Kubernetes, which is 10. Defaults to none.
	//
	// Example: 5
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty" protobuf:"varint,43,opt,name=revisionHistoryLimit"`

	// restartOn is what restarts the pods beside a change of the box. With "References", the server rolls out the box when the data of a
	// ConfigMap that its pods refer to in envs, envFrom or volumes changes, or when such a ConfigMap is created or deleted. This
	// includes Secrets if the server watches them. The ConfigMaps of configs are excluded: rollout of a config determines what its
	// change does. Without restartOn, only a change of the box restarts the pods. Defaults to no restarts.
	//
	// Example: References
	// +optional
	// +k8s:optional
	RestartOn *RestartTrigger `json:"restartOn,omitempty" protobuf:"bytes,47,opt,name=restartOn,casttype=RestartTrigger"`

	// resize is what a change of only the CPU and the memory of containers does to the pods. Without resize, it replaces them. A change
	// in place is no rollout: it has no revision, no steps, no checks and no Jobs. A container restarts only if its resizePolicy says so.
	// Defaults to none.
	//
	// Example: {mode: InPlaceOrRestart}
	// +optional
	// +k8s:optional
	Resize *ModelBoxResize `json:"resize,omitempty" protobuf:"bytes,48,opt,name=resize"`

	// rollout is when a rollout has failed, and what follows. Without it nothing follows, and status.rollout is not there.
	// Defaults to none.
	//
	// Example: {onFailure: Rollback}
	// +optional
	// +k8s:optional
	Rollout *ModelBoxRollout `json:"rollout,omitempty" protobuf:"bytes,41,opt,name=rollout"`

	// before is a command that runs once for each revision, before any pod of it starts, such as a migration of a database. Until it
	// has succeeded, the pods stay as they are. Setting it sets rollout. Defaults to none.
	//
	// Example: {command: [./migrate, up]}
	// +optional
	// +k8s:optional
	Before *ModelBoxJob `json:"before,omitempty" protobuf:"bytes,44,opt,name=before"`

	// after is a command that runs once for each revision, when all of its pods are available, such as a test. If it fails, the
	// rollout has failed. Setting it sets rollout. Defaults to none.
	//
	// Example: {command: [./smoke-test]}
	// +optional
	// +k8s:optional
	After *ModelBoxJob `json:"after,omitempty" protobuf:"bytes,45,opt,name=after"`

	// ports are the ports of the Service of the box. Without ports, the box has no Service. targetPort defaults to port, and
	// protocol to "TCP". With several ports, names such as "tcp-80" are added. A targetPort that is a string is the name of a
	// container port. A nodePort must be in the range of the cluster, 30000 to 32767 by default. Two ports may have the same
	// number and different protocols. Client-side kubectl apply takes such ports for one, and is refused if the result would
	// differ from the applied object. Server-side apply distinguishes them. When a pod of a box with ports stops, its containers
	// continue for 10 seconds before they get the signal, so that clients notice. They then have another 30 seconds. A preStop
	// hook of a container takes precedence. Defaults to none.
	//
	// Example: [{port: 80, targetPort: 8080, nodePort: 30010}]
	// +optional
	// +patchMergeKey=port
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	Ports []corev1.ServicePort `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"port" protobuf:"bytes,8,rep,name=ports"`

	// serviceType is how the ports are reached. Defaults to NodePort for a box with a nodePort and to ClusterIP for any
	// other; this choice follows the ports and is not stored. For a StatefulSet it cannot change to or from Headless.
	//
	// Example: LoadBalancer
	// +optional
	// +k8s:optional
	ServiceType ServiceType `json:"serviceType,omitempty" protobuf:"bytes,9,opt,name=serviceType,casttype=ServiceType"`

	// service is what the Service has beyond ports and serviceType. Without effect while there are no ports. Defaults to
	// none.
	//
	// Example: {externalTrafficPolicy: Local, annotations: {example.com/pool: public}}
	// +optional
	Service *ModelBoxService `json:"service,omitempty" protobuf:"bytes,29,opt,name=service"`

	// labels are further labels of the workload, the Services and the pods. They may not be among those that every box
	// gives to them: "modelbox", "app.kubernetes.io/name", "app.kubernetes.io/instance" and
	// "app.kubernetes.io/managed-by". service.labels win over them for the Service, podTemplate for the pods. A change
	// replaces the pods. Defaults to none.
	//
	// Example: {team: shop}
	// +optional
	// +k8s:validation:maxProperties=256
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,27,rep,name=labels"`

	// annotations are further annotations of the workload, the Services and the pods. service.annotations win over them
	// for the Service, podTemplate for the pods. A change replaces the pods. Defaults to none.
	//
	// Example: {example.com/contact: shop@example.com}
	// +optional
	// +k8s:validation:maxProperties=1024
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,28,rep,name=annotations"`

	// resourceType is the size of the main container, as both its requests and its limits; "custom" takes what resources
	// says. Defaults to "custom".
	//
	// Example: small
	// +optional
	// +k8s:required
	ResourceType ResourceType `json:"resourceType,omitempty" protobuf:"bytes,10,opt,name=resourceType,casttype=ResourceType"`

	// resources are the compute resources of the main container: CPU in cores, memory in bytes. They may be given for
	// resourceType "custom" only. Defaults to none.
	//
	// Example: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
	// +optional
	// +k8s:opaqueType
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,11,opt,name=resources"`

	// envs are the environment variables of the main container. Defaults to none.
	//
	// Example: [{name: LOG_LEVEL, value: debug}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=1024
	Envs []corev1.EnvVar `json:"envs,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,12,rep,name=envs"`

	// envFrom are ConfigMaps and Secrets whose keys become environment variables of the main container. A later one wins
	// over an earlier one, envs over both. Defaults to none.
	//
	// Example: [{configMapRef: {name: web}}]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty" protobuf:"bytes,13,rep,name=envFrom"`

	// containers are further containers that run beside the main container in every pod. Defaults to none.
	//
	// Example: [{name: metrics, image: "nginx-exporter:1.4"}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=100
	Containers []corev1.Container `json:"containers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,14,rep,name=containers"`

	// initContainers run one after the other, each to its end, before the main container starts. One with restartPolicy
	// Always keeps running as a sidecar. Defaults to none.
	//
	// Example: [{name: migrate, image: "web-tools:1.2", args: [migrate]}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=100
	InitContainers []corev1.Container `json:"initContainers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,15,rep,name=initContainers"`

	// readinessProbe is the check that the main container has to pass to get traffic. Defaults, for a box with a TCP
	// port that leads to the main container, to a TCP check of the first one every 5 seconds; to none otherwise.
	//
	// Example: {httpGet: {path: /ready, port: 8080}}
	// +optional
	// +k8s:opaqueType
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty" protobuf:"bytes,16,opt,name=readinessProbe"`

	// livenessProbe is the check that the main container is restarted for failing. Defaults, for a box with a TCP port
	// that leads to the main container, to a TCP check of the first one every 10 seconds, which begins when startupProbe
	// has passed; to none otherwise.
	//
	// Example: {httpGet: {path: /healthy, port: 8080}}
	// +optional
	// +k8s:opaqueType
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty" protobuf:"bytes,17,opt,name=livenessProbe"`

	// startupProbe is the check that the main container has to pass once before livenessProbe counts. Defaults, where
	// livenessProbe is a default too, to the same check every second for up to 300 seconds; to none otherwise.
	//
	// Example: {httpGet: {path: /healthy, port: 8080}, failureThreshold: 30}
	// +optional
	// +k8s:opaqueType
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty" protobuf:"bytes,18,opt,name=startupProbe"`

	// defaultProbes says whether the main container gets the probes that the box does not define. Defaults to "Enabled".
	//
	// Example: Disabled
	// +optional
	// +k8s:required
	DefaultProbes DefaultProbesPolicy `json:"defaultProbes,omitempty" protobuf:"bytes,19,opt,name=defaultProbes,casttype=DefaultProbesPolicy"`

	// disabledDefaultProbes are the default probes that the main container does not get although defaultProbes is "Enabled".
	// "Liveness" disables the default startup probe as well, which would have nothing to delay. With "Startup" alone, the default
	// liveness probe counts from the start of the container. Defaults to none.
	//
	// Example: [Startup]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	DisabledDefaultProbes []DefaultProbe `json:"disabledDefaultProbes,omitempty" protobuf:"bytes,30,rep,name=disabledDefaultProbes,casttype=DefaultProbe"`

	// volumes are what the containers of the box can mount. Defaults to none.
	//
	// Example: [{name: data, persistentVolumeClaim: {claimName: web}}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge,retainKeys
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	Volumes []corev1.Volume `json:"volumes,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,20,rep,name=volumes"`

	// volumeMounts are the places where the main container mounts volumes. Defaults to none.
	//
	// Example: [{name: data, mountPath: /var/lib/data}]
	// +optional
	// +patchMergeKey=mountPath
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=mountPath
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty" patchStrategy:"merge" patchMergeKey:"mountPath" protobuf:"bytes,21,rep,name=volumeMounts"`

	// configs are files of the application, kept in a ConfigMap each. Defaults to none.
	//
	// Example: [{mountPath: /etc/web, data: {web.conf: "workers 4;"}}]
	// +optional
	// +patchMergeKey=mountPath
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=mountPath
	// +k8s:optional
	// +k8s:validation:maxItems=64
	Configs []ModelBoxConfig `json:"configs,omitempty" patchStrategy:"merge" patchMergeKey:"mountPath" protobuf:"bytes,32,rep,name=configs"`

	// storage are volumes that outlive the pods, and the box unless retain is false: a PersistentVolumeClaim each, and
	// one for every pod where workload is "StatefulSet". Defaults to none.
	//
	// Example: [{name: uploads, mountPath: /srv/uploads, size: 10Gi}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=64
	Storage []ModelBoxStorage `json:"storage,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,33,rep,name=storage"`

	// ingress leads HTTP from outside of the cluster to the Service: an Ingress of the name of the box, which has ports.
	// Defaults to none.
	//
	// Example: {hosts: [shop.example.com], className: nginx}
	// +optional
	// +k8s:optional
	Ingress *ModelBoxIngress `json:"ingress,omitempty" protobuf:"bytes,34,opt,name=ingress"`

	// route leads HTTP from a Gateway to the Service: an HTTPRoute of gateway.networking.k8s.io with the name of the box,
	// which has ports. Where the cluster does not serve that kind, the box is not Applied. Defaults to none.
	//
	// Example: {parentRefs: [{name: public, namespace: gateways}], hosts: [shop.example.com]}
	// +optional
	// +k8s:optional
	Route *ModelBoxRoute `json:"route,omitempty" protobuf:"bytes,35,opt,name=route"`

	// grpcRoute routes gRPC from a Gateway to the Service: a GRPCRoute of gateway.networking.k8s.io with the name of the box, which
	// has ports. If the cluster does not serve that kind, the box is not Applied. Defaults to none.
	//
	// Example: {parentRefs: [{name: public, namespace: gateways}], hosts: [greeter.example.com]}
	// +optional
	// +k8s:optional
	GRPCRoute *ModelBoxGRPCRoute `json:"grpcRoute,omitempty" protobuf:"bytes,51,opt,name=grpcRoute"`

	// autoscaling adapts the number of pods to their load: a HorizontalPodAutoscaler of the name of the box that scales the
	// box. replicas is then the number to start with: an update of the box that has another one does not count, unless it
	// stops the box or starts it again. Not of a DaemonSet. Defaults to none.
	//
	// Example: {maxReplicas: 10, cpu: 70}
	// +optional
	Autoscaling *ModelBoxAutoscaling `json:"autoscaling,omitempty" protobuf:"bytes,36,opt,name=autoscaling"`

	// disruptionBudget is how many pods may be missing when nodes are drained: a PodDisruptionBudget of the name of the box.
	// Defaults to none.
	//
	// Example: {maxUnavailable: 1}
	// +optional
	DisruptionBudget *ModelBoxDisruptionBudget `json:"disruptionBudget,omitempty" protobuf:"bytes,37,opt,name=disruptionBudget"`

	// networkPolicy restricts the connections of the pods: a NetworkPolicy of the name of the box. If the box has before or after, a
	// second one, <name>-jobs, has the same policyTypes and egress rules for the pods of its Jobs, and no ingress rules. Defaults to
	// none.
	//
	// Example: {ingress: [{from: [{podSelector: {matchLabels: {modelbox: web}}}]}]}
	// +optional
	NetworkPolicy *ModelBoxNetworkPolicy `json:"networkPolicy,omitempty" protobuf:"bytes,46,opt,name=networkPolicy"`

	// networks are Networks of the namespace whose interfaces the pods have beside their own. Defaults to none.
	//
	// Example: [lan]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=16
	Networks []string `json:"networks,omitempty" protobuf:"bytes,38,rep,name=networks"`

	// serviceAccountName is the ServiceAccount that the pods run as. Defaults to the namespace's "default".
	//
	// Example: web
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	ServiceAccountName string `json:"serviceAccountName,omitempty" protobuf:"bytes,22,opt,name=serviceAccountName"`

	// imagePullSecrets are Secrets in the box's namespace with the credentials of the image registries. Defaults to none.
	//
	// Example: [{name: registry}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,23,rep,name=imagePullSecrets"`

	// podTemplate is an overlay for the pod template that the other fields make. It is merged last, by strategic merge, and sets
	// everything that has no field in the box. Lists merge by their keys: a container with the name in spec.name is merged into
	// the main container. It adds and replaces fields, and removes none: null has no effect, as in every applied object. It may
	// not change the label "modelbox", nor the image of the main container. Everything else that the pod template of the workload
	// may have is allowed. Defaults to none.
	//
	// Example: {spec: {nodeSelector: {disk: ssd}}}
	// +optional
	// +k8s:opaqueType
	PodTemplate *corev1.PodTemplateSpec `json:"podTemplate,omitempty" protobuf:"bytes,25,opt,name=podTemplate"`

	// ignoreDrift are fields of the children that other field managers may own. The controller does not restore them, does not
	// report them as a failure, and keeps them when the box changes. A child is created with the values of the box. Defaults to
	// none.
	//
	// Example: {deployment: ["spec.template.spec.containers[*].resources"]}
	// +optional
	// +k8s:optional
	IgnoreDrift *ModelBoxIgnoreDrift `json:"ignoreDrift,omitempty" protobuf:"bytes,39,opt,name=ignoreDrift"`

	// paused leaves the workload and the Services as they are: changes of the box wait until it is false again.
	// Defaults to false.
	//
	// Example: true
	// +optional
	Paused bool `json:"paused,omitempty" protobuf:"varint,24,opt,name=paused"`
}

// ModelBoxConfig is a directory of files that a container of the box sees.
type ModelBoxConfig struct {
	// name is the end of the name of the ConfigMap, after the name of the box and "-". Without it, the ConfigMap has the name of
	// the box. Configs must have different names. Defaults to none.
	//
	// Example: templates
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-short-name
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`

	// mountPath is the directory of the files in the container, an absolute path without ':'. It hides the files of the image in
	// this directory. Configs must have different paths. Required.
	//
	// Example: /etc/web
	MountPath string `json:"mountPath" protobuf:"bytes,2,opt,name=mountPath"`

	// data are the files by their names, which have letters, digits, '-', '_' and '.'. Required unless there is binaryData.
	//
	// Example: {web.conf: "workers 4;"}
	// +optional
	Data map[string]string `json:"data,omitempty" protobuf:"bytes,3,rep,name=data"`

	// container is the container or init container that sees the files. Defaults to the main container.
	//
	// Example: metrics
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,4,opt,name=container"`

	// rollout is what a change of the files does: "Restart" replaces the pods, "Live" changes the mounted files within a
	// minute or two and leaves it to the application to read them, "Versioned" replaces the pods, too, and the old ones
	// keep the old files until they have gone, since the new files are in a ConfigMap of their own, whose name ends in
	// their hash. Defaults to "Restart".
	//
	// Example: Versioned
	// +optional
	// +k8s:required
	Rollout ConfigRollout `json:"rollout,omitempty" protobuf:"bytes,5,opt,name=rollout,casttype=ConfigRollout"`

	// binaryData are files whose content need not be UTF-8, encoded in base64, by their names, as data. A file is in one of
	// the two. Defaults to none.
	//
	// Example: {logo.ico: AAABAAE=}
	// +optional
	BinaryData map[string][]byte `json:"binaryData,omitempty" protobuf:"bytes,6,rep,name=binaryData"`
}

// ModelBoxStorage is a volume of the box that outlives its pods.
type ModelBoxStorage struct {
	// name is the name of the volume, a DNS-1123 label. The PersistentVolumeClaim has the name <box>-<name>, or
	// <name>-<box>-<ordinal of the pod> with workload "StatefulSet". Required.
	//
	// Example: data
	// +k8s:required
	// +k8s:format=k8s-short-name
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// mountPath is where the main container sees the volume, an absolute path without ':'. Required.
	//
	// Example: /var/lib/data
	MountPath string `json:"mountPath" protobuf:"bytes,2,opt,name=mountPath"`

	// size is how much the volume holds, in bytes. It may grow where the storage class lets it, and cannot shrink.
	// Required.
	//
	// Example: 10Gi
	// +k8s:opaqueType
	RequestedSize resource.Quantity `json:"size" protobuf:"bytes,3,opt,name=requestedSize"`

	// storageClassName is the storage class of the volume, "" for a volume that was created manually. It cannot be changed.
	// Defaults to none, which is the default class of the cluster.
	//
	// Example: fast
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty" protobuf:"bytes,4,opt,name=storageClassName"`

	// accessModes are how nodes may mount the volume: "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany" or
	// "ReadWriteOncePod". They cannot be changed. Defaults to [ReadWriteOnce].
	//
	// Example: [ReadWriteMany]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty" protobuf:"bytes,5,rep,name=accessModes,casttype=k8s.io/api/core/v1.PersistentVolumeAccessMode"`

	// retain is false for a volume that is deleted with the box, or when it is taken out of it. Defaults to true.
	//
	// Example: false
	// +optional
	Retain *bool `json:"retain,omitempty" protobuf:"varint,6,opt,name=retain"`
}

// ModelBoxService is what the Service of a box has beyond its ports and its type.
type ModelBoxService struct {
	// labels are further labels of the Service. Those that every box gives to it may not be among them. Defaults to none.
	//
	// Example: {exposed: "true"}
	// +optional
	// +k8s:validation:maxProperties=256
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,1,rep,name=labels"`

	// annotations are further annotations of the Service, such as those that load balancers are configured by. Defaults
	// to none.
	//
	// Example: {external-dns.alpha.kubernetes.io/hostname: shop.example.com}
	// +optional
	// +k8s:validation:maxProperties=1024
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,2,rep,name=annotations"`

	// sessionAffinity is "ClientIP" to lead a client to the same pod again, or "None". Defaults to none, which is the
	// cluster's "None".
	//
	// Example: ClientIP
	// +optional
	// +k8s:opaqueType
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty" protobuf:"bytes,3,opt,name=sessionAffinity,casttype=k8s.io/api/core/v1.ServiceAffinity"`

	// sessionAffinityConfig says how long sessionAffinity "ClientIP" lasts: clientIP.timeoutSeconds, from 1 to 86400
	// seconds. Defaults to none, which is the cluster's 10800 seconds.
	//
	// Example: {clientIP: {timeoutSeconds: 600}}
	// +optional
	// +k8s:opaqueType
	SessionAffinityConfig *corev1.SessionAffinityConfig `json:"sessionAffinityConfig,omitempty" protobuf:"bytes,4,opt,name=sessionAffinityConfig"`

	// externalTrafficPolicy is "Local" to lead what comes in at a node to pods of that node only, which keeps the address
	// of the client, or "Cluster". It may be given for serviceType NodePort and LoadBalancer. Defaults to none, which is
	// the cluster's "Cluster".
	//
	// Example: Local
	// +optional
	// +k8s:opaqueType
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty" protobuf:"bytes,5,opt,name=externalTrafficPolicy,casttype=k8s.io/api/core/v1.ServiceExternalTrafficPolicy"`

	// internalTrafficPolicy is "Local" to lead what comes from a pod to pods of its node only, or "Cluster". Defaults to
	// none, which is the cluster's "Cluster".
	//
	// Example: Local
	// +optional
	// +k8s:opaqueType
	InternalTrafficPolicy *corev1.ServiceInternalTrafficPolicy `json:"internalTrafficPolicy,omitempty" protobuf:"bytes,6,opt,name=internalTrafficPolicy,casttype=k8s.io/api/core/v1.ServiceInternalTrafficPolicy"`

	// loadBalancerClass is the load balancer that takes the Service, a label-style name. It may be given for serviceType
	// LoadBalancer, and may not change while the box has that. Defaults to none, which is the cluster's own.
	//
	// Example: example.com/internal
	// +optional
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty" protobuf:"bytes,7,opt,name=loadBalancerClass"`

	// loadBalancerSourceRanges are the networks whose clients the load balancer lets in, where it can tell. They may be
	// given for serviceType LoadBalancer. Defaults to none, which is all.
	//
	// Example: [203.0.113.0/24]
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=1024
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty" protobuf:"bytes,8,rep,name=loadBalancerSourceRanges"`

	// allocateLoadBalancerNodePorts is false for a load balancer that needs no node ports. It may be given for
	// serviceType LoadBalancer. Defaults to none, which is the cluster's true.
	//
	// Example: false
	// +optional
	AllocateLoadBalancerNodePorts *bool `json:"allocateLoadBalancerNodePorts,omitempty" protobuf:"varint,9,opt,name=allocateLoadBalancerNodePorts"`

	// healthCheckNodePort is the port number on every node where a load balancer learns whether the node has pods. It may
	// be given for serviceType LoadBalancer with externalTrafficPolicy "Local", and may not change while the box has
	// both. Defaults to one that the cluster chooses.
	//
	// Example: 30100
	// +optional
	HealthCheckNodePort int32 `json:"healthCheckNodePort,omitempty" protobuf:"varint,10,opt,name=healthCheckNodePort"`

	// ipFamilies are the IP families of the Service's addresses, "IPv4", "IPv6" or both. The first may not change while
	// the Service stays. Defaults to what the cluster chooses.
	//
	// Example: [IPv4, IPv6]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty" protobuf:"bytes,11,rep,name=ipFamilies,casttype=k8s.io/api/core/v1.IPFamily"`

	// ipFamilyPolicy is "SingleStack", "PreferDualStack" or "RequireDualStack". Two ipFamilies need one of the latter, and
	// these take two or none.
	// Defaults to none, which is the cluster's "SingleStack".
	//
	// Example: PreferDualStack
	// +optional
	// +k8s:opaqueType
	IPFamilyPolicy *corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty" protobuf:"bytes,12,opt,name=ipFamilyPolicy,casttype=k8s.io/api/core/v1.IPFamilyPolicy"`

	// publishNotReadyAddresses leads to pods that are not ready, too. Defaults to false.
	//
	// Example: true
	// +optional
	PublishNotReadyAddresses bool `json:"publishNotReadyAddresses,omitempty" protobuf:"varint,13,opt,name=publishNotReadyAddresses"`

	// trafficDistribution is "PreferSameZone" or its older name "PreferClose", or "PreferSameNode", to lead a client to
	// pods near it. Defaults to none, which is any.
	//
	// Example: PreferSameZone
	// +optional
	TrafficDistribution *string `json:"trafficDistribution,omitempty" protobuf:"bytes,14,opt,name=trafficDistribution"`
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
	// ConditionStalled is True when the box will not become what its spec says until a user or another controller changes
	// something. Otherwise the box does not have it. Tools that wait for a box, such as Helm, give up on it.
	ConditionStalled = "Stalled"
)

// The reasons of a box's conditions. Ready also takes the reason that the cluster gives for a failing pod, such as
// ImagePullBackOff or CrashLoopBackOff.
const (
	// ReasonPending: the controller has not seen the box yet.
	ReasonPending = "Pending"
	// ReasonReady: the box is what it says.
	ReasonReady = "Ready"
	// ReasonComplete: the Job of the box has succeeded.
	ReasonComplete = "Complete"
	// ReasonStopped: the box is what it says, which is no pods at all.
	ReasonStopped = "Stopped"
	// ReasonScaledToZero: the box is what it says, and its autoscaler has decided that it needs no pods.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonNotApplied: a child is not what the box says; Applied tells why.
	ReasonNotApplied = "NotApplied"
	// ReasonPaused: spec.paused keeps a child from being what the box says.
	ReasonPaused = "Paused"
	// ReasonProgressing: a rollout is running.
	ReasonProgressing = "Progressing"
	// ReasonRolloutComplete: every pod runs the current pod template and is available.
	ReasonRolloutComplete = "RolloutComplete"
	// ReasonRolledBack: the rollout has failed, and the pods of the last complete revision run.
	ReasonRolledBack = "RolledBack"
	// ReasonRolloutFailed: the rollout has failed, and is left or stopped where it was.
	ReasonRolloutFailed = "RolloutFailed"
	// ReasonProgressDeadlineExceeded: a rollout made no progress for spec.progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonResizeDeferred: a pod waits for the CPU or the memory of its node, or for a quota, to be resized in place.
	ReasonResizeDeferred = "ResizeDeferred"
	// ReasonResizeInfeasible: a pod cannot be resized in place, and the box does not let it be replaced.
	ReasonResizeInfeasible = "ResizeInfeasible"
	// ReasonJobFailed: the Job of the box has failed, of workload "Job", or of spec.before or spec.after.
	ReasonJobFailed = "JobFailed"
	// ReasonLastJobFailed: the last run of a CronJob has failed.
	ReasonLastJobFailed = "LastJobFailed"
	// ReasonSuspended: the Job or the CronJob is suspended.
	ReasonSuspended = "Suspended"
	// ReasonCheckFailed: a check of spec.rollout.checks has failed more often than its failureLimit.
	ReasonCheckFailed = "CheckFailed"
	// ReasonDeploymentPaused: a user or another controller has paused the Deployment in the middle of a rollout.
	ReasonDeploymentPaused = "DeploymentPaused"
	// ReasonStatefulSetPartitioned: a user or another controller keeps a rollout from some pods with the partition of the
	// StatefulSet.
	ReasonStatefulSetPartitioned = "StatefulSetPartitioned"
	// ReasonLoadBalancerPending: no load balancer has given the Service an address.
	ReasonLoadBalancerPending = "LoadBalancerPending"
	// ReasonIngressAddressPending: the class of the Ingress gives addresses, and has not given it one.
	ReasonIngressAddressPending = "IngressAddressPending"
	// ReasonRouteNotAccepted: what the HTTPRoute is attached to does not take it, or not with its backend.
	ReasonRouteNotAccepted = "RouteNotAccepted"
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
	// ReasonConflict: another field manager insists on a field of a child.
	ReasonConflict = "Conflict"
	// ReasonRejected: the cluster takes a child only without something that the box says about it.
	ReasonRejected = "Rejected"
	// ReasonNotServed: the cluster does not serve the kind of a child.
	ReasonNotServed = "NotServed"
	// ReasonError: a child could not be written for a reason that is likely to pass.
	ReasonError = "Error"
)

// MaxPodNames is how many pod names a status lists.
const MaxPodNames = 100

// ModelBoxStatus is the observed state of a ModelBox.
type ModelBoxStatus struct {
	// observedGeneration is the generation of the box that this status was computed for. When it is less than
	// metadata.generation, the rest of the status is about an older spec.
	//
	// Example: 3
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// desiredReplicas is the number of pods that the workload is asked for: spec.replicas, unless an autoscaler of the
	// workload decides, and for a DaemonSet the number of nodes that should run a pod. It is not there while there is no
	// workload.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty" protobuf:"varint,12,opt,name=desiredReplicas"`

	// replicas is the number of pods that exist and are not terminating.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Replicas int32 `json:"replicas,omitempty" protobuf:"varint,2,opt,name=replicas"`

	// updatedReplicas is the number of pods that run the current pod template.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty" protobuf:"varint,3,opt,name=updatedReplicas"`

	// readyReplicas is the number of pods that are ready.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ReadyReplicas int32 `json:"readyReplicas,omitempty" protobuf:"varint,4,opt,name=readyReplicas"`

	// availableReplicas is the number of pods that have been ready for spec.minReadySeconds.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	AvailableReplicas int32 `json:"availableReplicas,omitempty" protobuf:"varint,5,opt,name=availableReplicas"`

	// selector is the label selector of the pods in its string form: what the scale subresource reports.
	//
	// Example: modelbox=web
	// +optional
	Selector string `json:"selector,omitempty" protobuf:"bytes,6,opt,name=selector"`

	// podNames are the names of the pods, sorted; at most 100.
	//
	// Example: [web-5d8f7c9b6-2xkqp, web-5d8f7c9b6-w7zvn]
	// +optional
	// +listType=atomic
	PodNames []string `json:"podNames,omitempty" protobuf:"bytes,7,rep,name=podNames"`

	// podNamesOmitted is the number of pods that podNames leaves out.
	//
	// Example: 20
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	PodNamesOmitted int32 `json:"podNamesOmitted,omitempty" protobuf:"varint,8,opt,name=podNamesOmitted"`

	// address is how the box is reached inside the cluster, as name and port. Empty without ports.
	//
	// Example: "web.default.svc:80"
	// +optional
	Address string `json:"address,omitempty" protobuf:"bytes,9,opt,name=address"`

	// ingressAddresses are where the Ingress is reached, IP addresses or host names, as the controller of its class says, which
	// need not. Empty without spec.ingress.
	//
	// Example: [203.0.113.7]
	// +optional
	// +listType=atomic
	IngressAddresses []string `json:"ingressAddresses,omitempty" protobuf:"bytes,13,rep,name=ingressAddresses"`

	// nodePorts are the ports on every node that lead to the box.
	//
	// Example: [{port: 80, protocol: TCP, nodePort: 30010}]
	// +optional
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	NodePorts []NodePort `json:"nodePorts,omitempty" protobuf:"bytes,10,rep,name=nodePorts"`

	// podNetworks are the interfaces of the pods in podNames in other networks than the network of the cluster, from their
	// annotation k8s.v1.cni.cncf.io/network-status.
	//
	// Example: [{pod: web-5d8f7c9b6-2xkqp, network: lan, interface: net1, addresses: [192.168.0.2]}]
	// +optional
	// +listType=atomic
	PodNetworks []PodNetwork `json:"podNetworks,omitempty" protobuf:"bytes,14,rep,name=podNetworks"`

	// unreleasedStorage are the names of storage that is retained, or was when it was taken out of the box, and whose claims the
	// box may still own because it was not retained before. The controller releases the claims, also while the box is paused.
	//
	// Example: [data]
	// +optional
	// +listType=set
	UnreleasedStorage []string `json:"unreleasedStorage,omitempty" protobuf:"bytes,15,rep,name=unreleasedStorage"`

	// rollout is how the rollout of the pods that the box asks for gets on. It is there while spec.rollout is.
	//
	// Example: {phase: Complete, podsHash: 6fd9e0c1b5a94d2f}
	// +optional
	Rollout *ModelBoxRolloutStatus `json:"rollout,omitempty" protobuf:"bytes,16,opt,name=rollout"`

	// resize is how far a resize in place has come. It is there until all pods and the workload have the CPU and the memory that the box
	// asks for.
	//
	// Example: {phase: InProgress, podsHash: 6fd9e0c1b5a94d2f, resizedReplicas: 2}
	// +optional
	// +k8s:optional
	Resize *ModelBoxResizeStatus `json:"resize,omitempty" protobuf:"bytes,17,opt,name=resize"`

	// job is the result of the Job, for workload "Job". It is there as soon as the Job that the box asks for has succeeded or failed.
	//
	// Example: {templateHash: 4a6e5111d7162ae7, phase: Succeeded}
	// +optional
	// +k8s:optional
	Job *ModelBoxJobStatus `json:"job,omitempty" protobuf:"bytes,18,opt,name=job"`

	// conditions are Ready, Available, Progressing and Applied; Stalled while it is True.
	//
	// Example: [{type: Ready, status: "False", reason: Progressing, message: "3 of 4 pods are available"}]
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,11,rep,name=conditions"`
}

// PodNetwork is an interface that a pod has in a network.
type PodNetwork struct {
	// pod is the name of the pod. Required.
	//
	// Example: web-5d8f7c9b6-2xkqp
	Pod string `json:"pod" protobuf:"bytes,1,opt,name=pod"`

	// network is the name of the network, after the namespace and "/" where it is of another. Required.
	//
	// Example: lan
	Network string `json:"network" protobuf:"bytes,2,opt,name=network"`

	// interface is the name of the interface in the pod. Empty where that is not known.
	//
	// Example: net1
	// +optional
	Interface string `json:"interface,omitempty" protobuf:"bytes,3,opt,name=interface"`

	// addresses are the addresses of the interface, IPv4 or IPv6.
	//
	// Example: [192.168.0.2]
	// +optional
	// +listType=atomic
	Addresses []string `json:"addresses,omitempty" protobuf:"bytes,4,rep,name=addresses"`

	// mac is the hardware address of the interface. Empty where that is not known.
	//
	// Example: "9e:0c:d9:b2:f0:a6"
	// +optional
	MAC string `json:"mac,omitempty" protobuf:"bytes,5,opt,name=mac"`
}

// NodePort is the node port of one of the box's ports.
type NodePort struct {
	// port is the port number of the box, as in spec.ports. Required.
	//
	// Example: 80
	Port int32 `json:"port" protobuf:"varint,1,opt,name=port"`

	// protocol is the protocol of the port: TCP, UDP or SCTP. Defaults to "TCP".
	//
	// Example: TCP
	// +optional
	// +default="TCP"
	// +k8s:opaqueType
	Protocol corev1.Protocol `json:"protocol,omitempty" protobuf:"bytes,2,opt,name=protocol,casttype=k8s.io/api/core/v1.Protocol"`

	// nodePort is the port number on every node. Required.
	//
	// Example: 30010
	NodePort int32 `json:"nodePort" protobuf:"varint,3,opt,name=nodePort"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxList is a list of ModelBoxes.
type ModelBoxList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// Example: {resourceVersion: "4711"}
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the boxes. Required.
	//
	// Example: [{metadata: {name: web}, spec: {image: "nginx:1.7.9"}}]
	Items []ModelBox `json:"items" protobuf:"bytes,2,rep,name=items"`
}
