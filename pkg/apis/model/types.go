// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
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

// DefaultProbe is one of the probes that a box gets although it does not define it.
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
type Strategy string

const (
	// StrategyRollingUpdate starts new pods while old ones still serve, as spec.rollingUpdate says.
	StrategyRollingUpdate Strategy = "RollingUpdate"
	// StrategyRecreate stops all old pods before it starts new ones.
	StrategyRecreate Strategy = "Recreate"
)

// PodManagementPolicy is the order in which a StatefulSet creates and deletes pods when it is scaled.
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
// a string, or each of them.
type RollingUpdate struct {
	Type           RollingUpdateType
	IntVal         int32
	StrVal         string
	MaxSurge       *intstr.IntOrString
	MaxUnavailable *intstr.IntOrString
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBox is one application. The served types document what each field means and promises.
type ModelBox struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   ModelBoxSpec
	Status ModelBoxStatus
}

// ModelBoxSpec is the desired state of a ModelBox.
type ModelBoxSpec struct {
	Name                    string
	Image                   string
	Command                 []string
	Args                    []string
	Replicas                *int32
	Workload                Workload
	Job                     *ModelBoxJobSpec
	CronJob                 *ModelBoxCronJobSpec
	Strategy                Strategy
	RollingUpdate           *RollingUpdate
	MinReadySeconds         *int32
	ProgressDeadlineSeconds *int32
	PodManagementPolicy     *PodManagementPolicy
	RevisionHistoryLimit    *int32
	RestartOn               *RestartTrigger
	Resize                  *ModelBoxResize
	Ports                   []corev1.ServicePort
	ServiceType             ServiceType
	Service                 *ModelBoxService
	Labels                  map[string]string
	Annotations             map[string]string
	ResourceType            ResourceType
	Resources               *corev1.ResourceRequirements
	Envs                    []corev1.EnvVar
	EnvFrom                 []corev1.EnvFromSource
	Containers              []corev1.Container
	InitContainers          []corev1.Container
	ReadinessProbe          *corev1.Probe
	LivenessProbe           *corev1.Probe
	StartupProbe            *corev1.Probe
	DefaultProbes           DefaultProbesPolicy
	DisabledDefaultProbes   []DefaultProbe
	Volumes                 []corev1.Volume
	VolumeMounts            []corev1.VolumeMount
	Configs                 []ModelBoxConfig
	Storage                 []ModelBoxStorage
	Ingress                 *ModelBoxIngress
	Route                   *ModelBoxRoute
	GRPCRoute               *ModelBoxGRPCRoute
	Autoscaling             *ModelBoxAutoscaling
	DisruptionBudget        *ModelBoxDisruptionBudget
	NetworkPolicy           *ModelBoxNetworkPolicy
	IgnoreDrift             *ModelBoxIgnoreDrift
	Rollout                 *ModelBoxRollout
	Before                  *ModelBoxJob
	After                   *ModelBoxJob
	Networks                []string
	ServiceAccountName      string
	ImagePullSecrets        []corev1.LocalObjectReference
	PodTemplate             *corev1.PodTemplateSpec
	Paused                  bool
}

// ModelBoxConfig is a directory of files that a container of the box sees.
type ModelBoxConfig struct {
	Name       string
	MountPath  string
	Data       map[string]string
	Container  string
	Rollout    ConfigRollout
	BinaryData map[string][]byte
}

// ModelBoxStorage is a volume of the box that outlives its pods.
type ModelBoxStorage struct {
	Name             string
	MountPath        string
	RequestedSize    resource.Quantity
	StorageClassName *string
	AccessModes      []corev1.PersistentVolumeAccessMode
	Retain           *bool
}

// ModelBoxService is what the Service of a box has beyond its ports and its type.
type ModelBoxService struct {
	Labels                        map[string]string
	Annotations                   map[string]string
	SessionAffinity               corev1.ServiceAffinity
	SessionAffinityConfig         *corev1.SessionAffinityConfig
	ExternalTrafficPolicy         corev1.ServiceExternalTrafficPolicy
	InternalTrafficPolicy         *corev1.ServiceInternalTrafficPolicy
	LoadBalancerClass             *string
	LoadBalancerSourceRanges      []string
	AllocateLoadBalancerNodePorts *bool
	HealthCheckNodePort           int32
	IPFamilies                    []corev1.IPFamily
	IPFamilyPolicy                *corev1.IPFamilyPolicy
	PublishNotReadyAddresses      bool
	TrafficDistribution           *string
}

// ModelBoxStatus is the observed state of a ModelBox.
type ModelBoxStatus struct {
	ObservedGeneration int64
	DesiredReplicas    *int32
	Replicas           int32
	UpdatedReplicas    int32
	ReadyReplicas      int32
	AvailableReplicas  int32
	Selector           string
	PodNames           []string
	PodNamesOmitted    int32
	Address            string
	IngressAddresses   []string
	NodePorts          []NodePort
	PodNetworks        []PodNetwork
	UnreleasedStorage  []string
	Rollout            *ModelBoxRolloutStatus
	Resize             *ModelBoxResizeStatus
	Job                *ModelBoxJobStatus
	Conditions         []metav1.Condition
}

// PodNetwork is an interface that a pod has in a network.
type PodNetwork struct {
	Pod       string
	Network   string
	Interface string
	Addresses []string
	MAC       string
}

// NodePort is the node port of one of the box's ports.
type NodePort struct {
	Port     int32
	Protocol corev1.Protocol
	NodePort int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxList is a list of ModelBoxes.
type ModelBoxList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []ModelBox
}
