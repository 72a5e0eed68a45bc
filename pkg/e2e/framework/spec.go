// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The images of boxes before and after a change. Simulated nodes do not run them.
const (
	Image    = "nginx:1.7.9"
	NewImage = "nginx:1.8"
)

// NewBox returns a small box, with one pod and one port, and with the changes of a test.
func NewBox(name string, changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: modelv1.ModelBoxSpec{
			Image:           Image,
			Replicas:        ptr.To[int32](1),
			MinReadySeconds: ptr.To[int32](1),
			Ports:           []corev1.ServicePort{{Port: 80}},
		},
	}
	for _, change := range changes {
		change(&box.Spec)
	}
	return box
}

// WithReplicas sets the number of pods.
func WithReplicas(replicas int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Replicas = &replicas }
}

// WithImage sets the image of the main container.
func WithImage(image string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Image = image }
}

// WithPorts sets the ports. Without ports, the box has no Service.
func WithPorts(ports ...corev1.ServicePort) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Ports = ports }
}

// WithEnvs sets the environment variables.
func WithEnvs(envs ...corev1.EnvVar) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Envs = envs }
}

// WithReadinessProbe sets the readiness probe of the main container.
func WithReadinessProbe(handler corev1.ProbeHandler) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.ReadinessProbe = &corev1.Probe{ProbeHandler: handler} }
}

// WithVolume mounts a volume with the source.
func WithVolume(source corev1.VolumeSource) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
		spec.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
}

// WithPodTemplate sets the overlay of the pod spec.
func WithPodTemplate(spec corev1.PodSpec) func(*modelv1.ModelBoxSpec) {
	return func(box *modelv1.ModelBoxSpec) { box.PodTemplate = &corev1.PodTemplateSpec{Spec: spec} }
}

// WithRollingUpdate sets the parameters of the rolling update.
func WithRollingUpdate(step intstr.IntOrString) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.RollingUpdate = modelv1.NewRollingUpdate(step) }
}

// Unschedulable selects nodes that do not exist, so that no pod of the box ever runs.
func Unschedulable(spec *modelv1.ModelBoxSpec) {
	spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "none"}}}
}

// Pause pauses the box.
func Pause(spec *modelv1.ModelBoxSpec) { spec.Paused = true }

// Unpause ends the pause of the box.
func Unpause(spec *modelv1.ModelBoxSpec) { spec.Paused = false }

// EnvValue returns an environment variable with a value.
func EnvValue(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

// EnvFromName returns an environment variable with the name of the pod.
func EnvFromName(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
}

// Resources returns a list of CPU and memory. An empty string leaves one out.
func Resources(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if quantity != "" {
			list[name] = resource.MustParse(quantity)
		}
	}
	return list
}

// The handlers of probes, and the sources of volumes.
var (
	HTTPGet   = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80)}}
	TCPSocket = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}
	EmptyDir  = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	ConfigMap = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "files"}}}
)
