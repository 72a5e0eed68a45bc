// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// overlay changes the overlay of the box.
func overlay(change func(*corev1.PodTemplateSpec)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		if box.Spec.PodTemplate == nil {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
		}
		change(box.Spec.PodTemplate)
	}
}

func overlayMeta(meta metav1.ObjectMeta) func(*model.ModelBox) {
	return overlay(func(template *corev1.PodTemplateSpec) { template.ObjectMeta = meta })
}

func overlayPod(change func(*corev1.PodSpec)) func(*model.ModelBox) {
	return overlay(func(template *corev1.PodTemplateSpec) { change(&template.Spec) })
}

func TestOverlay(t *testing.T) {
	const path = "spec.podTemplate."
	now := metav1.Now()
	containers := func(names ...string) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) {
			for _, name := range names {
				container := corev1.Container{Name: name}
				if name != "web" {
					container.Image = "side:1"
				}
				spec.Containers = append(spec.Containers, container)
			}
		})
	}
	initContainers := func(names ...string) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) {
			for _, name := range names {
				spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: name, Image: "side:1"})
			}
		})
	}
	check(t, []row{
		{"an empty overlay is accepted", overlay(func(*corev1.PodTemplateSpec) {}), nil},
		{"an overlay for the main container is accepted", containers("web"), nil},
		{"an overlay is not validated before it is merged", overlayPod(func(spec *corev1.PodSpec) { spec.Hostname = "a b" }), nil},
		{"labels, annotations and finalizers are accepted", overlayMeta(metav1.ObjectMeta{
			Labels: map[string]string{"modelbox": "web", "tier": "front"}, Annotations: map[string]string{"a": "b"}, Finalizers: []string{"example.com/a"},
		}), nil},
		{"the label that selects the pods does not change", overlayMeta(metav1.ObjectMeta{Labels: map[string]string{"modelbox": "other"}}),
			[]string{"Invalid value: " + path + "metadata.labels[modelbox]"}},
		{"the label of the candidate is the controller's", overlayMeta(metav1.ObjectMeta{Labels: map[string]string{"modelbox": "web", "model.github.com/candidate": "true"}}),
			[]string{"Forbidden: " + path + "metadata.labels[model.github.com/candidate]"}},
		{"pods have names of their own", overlayMeta(metav1.ObjectMeta{Name: "web", GenerateName: "web-", Namespace: "default", UID: "1"}),
			[]string{"Forbidden: " + path + "metadata.name", "Forbidden: " + path + "metadata.generateName", "Forbidden: " + path + "metadata.namespace", "Forbidden: " + path + "metadata.uid"}},
		{"pods have an owner of their own", overlayMeta(metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{}}, ManagedFields: []metav1.ManagedFieldsEntry{{}}}),
			[]string{"Forbidden: " + path + "metadata.ownerReferences", "Forbidden: " + path + "metadata.managedFields"}},
		{"pods have times of their own", overlayMeta(metav1.ObjectMeta{CreationTimestamp: now, DeletionTimestamp: &now, DeletionGracePeriodSeconds: ptr.To[int64](1)}),
			[]string{"Forbidden: " + path + "metadata.creationTimestamp", "Forbidden: " + path + "metadata.deletionTimestamp", "Forbidden: " + path + "metadata.deletionGracePeriodSeconds"}},
		{"pods have versions of their own", overlay(func(template *corev1.PodTemplateSpec) {
			template.ResourceVersion, template.Generation = "1", 1
			template.SetSelfLink("/")
		}),
			[]string{"Forbidden: " + path + "metadata.selfLink", "Forbidden: " + path + "metadata.resourceVersion", "Forbidden: " + path + "metadata.generation"}},

		{"a container has a name", containers("web", ""), []string{"Required value: " + path + "spec.containers[1].name"}},
		{"a container is listed once", containers("web", "web"), []string{"Duplicate value: " + path + "spec.containers[1].name"}},
		{"an init container has a name", initContainers(""), []string{"Required value: " + path + "spec.initContainers[0].name"}},
		{"an init container is not a container too", all(containers("a"), initContainers("a")), []string{"Duplicate value: " + path + "spec.containers[0].name"}},
		{"a volume has a name", overlayPod(func(spec *corev1.PodSpec) { spec.Volumes = []corev1.Volume{{}} }), []string{"Required value: " + path + "spec.volumes[0].name"}},
		{"a pull secret has a name", overlayPod(func(spec *corev1.PodSpec) { spec.ImagePullSecrets = []corev1.LocalObjectReference{{}} }),
			[]string{"Required value: " + path + "spec.imagePullSecrets[0].name"}},
	})
}

func TestOverlayContainers(t *testing.T) {
	const path = "spec.podTemplate.spec."
	containers := func(containers ...corev1.Container) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) { spec.Containers = containers })
	}
	initContainers := func(containers ...corev1.Container) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) { spec.InitContainers = containers })
	}
	named := func(name string) func(*model.ModelBox) { return func(box *model.ModelBox) { box.Spec.Name = name } }
	unchanged := func(*corev1.Container) {}
	check(t, []row{
		{"a container of the box is added to", all(container(unchanged), containers(corev1.Container{Name: "side", TTY: true})), nil},
		{"a container of the box gets another image", all(container(unchanged), containers(corev1.Container{Name: "side", Image: "side:2"})), nil},
		{"a container is added", containers(corev1.Container{Name: "extra", Image: "extra:1"}), nil},
		{"a container that is added has an image", containers(corev1.Container{Name: "web"}, corev1.Container{Name: "extra"}), []string{"Required value: " + path + "containers[1].image"}},
		{"an init container of the box is added to", all(initContainer(unchanged), initContainers(corev1.Container{Name: "prepare", TTY: true})), nil},
		{"an init container that is added has an image", initContainers(corev1.Container{Name: "prepare"}), []string{"Required value: " + path + "initContainers[0].image"}},
		{"an init container does not add to the main container", initContainers(corev1.Container{Name: "web"}), []string{"Required value: " + path + "initContainers[0].image"}},
		{"the main container has the box's image", containers(corev1.Container{Name: "web", Image: "nginx:2"}), []string{"Forbidden: " + path + "containers[0].image"}},
		{"the main container has the box's image, whatever its name", all(named("main"), containers(corev1.Container{Name: "web", Image: "nginx:2"}, corev1.Container{Name: "main", Image: "nginx:2"})),
			[]string{"Forbidden: " + path + "containers[1].image"}},
		{"the main container has the box's image, although it is the same", containers(corev1.Container{Name: "web", Image: "nginx:1.7.9"}), []string{"Forbidden: " + path + "containers[0].image"}},
	})
}

// What the overlay says of the pod counts for the containers of the box.
func TestOverlaidPod(t *testing.T) {
	hook := func(c *corev1.Container) {
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 60}}}
	}
	signal := func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGUSR1)} }
	claims := func(c *corev1.Container) { c.Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }
	gpu := overlayPod(func(spec *corev1.PodSpec) { spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} })
	security := func(context corev1.SecurityContext) func(*model.ModelBox) {
		return container(func(c *corev1.Container) { c.SecurityContext = &context })
	}
	unmasked := security(corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)})
	hostProcess := security(corev1.SecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}})
	volumes := func(volumes ...corev1.Volume) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) { spec.Volumes = volumes })
	}
	mounted := func(box *model.ModelBox) {
		box.Spec.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	device := container(func(c *corev1.Container) {
		c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/a"}}
	})
	images := map[string]string{"other": "other:1"}
	named := func(containerName, portName string) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) {
			spec.Containers = []corev1.Container{{Name: containerName, Image: images[containerName], Ports: []corev1.ContainerPort{{Name: portName, ContainerPort: 9000}}}}
		})
	}
	besideMain := func(policy *corev1.ContainerRestartPolicy) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) {
			spec.InitContainers = []corev1.Container{{Name: "side", Image: "side:1", RestartPolicy: policy, Ports: []corev1.ContainerPort{{Name: "admin", ContainerPort: 9000}}}}
		})
	}
	target := port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromString("admin") })
	probe := func(box *model.ModelBox) {
		box.Spec.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("admin")}}}
	}
	check(t, []row{
		{"a hook sleeps as long as the pod has", all(container(hook), overlayPod(func(spec *corev1.PodSpec) { spec.TerminationGracePeriodSeconds = ptr.To[int64](60) })), nil},
		{"a hook does not sleep longer than the pod has", all(container(hook), overlayPod(func(spec *corev1.PodSpec) { spec.TerminationGracePeriodSeconds = ptr.To[int64](59) })),
			[]string{"Invalid value: spec.containers[0].lifecycle.preStop.sleep.seconds"}},
		{"a stop signal is accepted where the system is known", all(container(signal), overlayPod(func(spec *corev1.PodSpec) { spec.OS = &corev1.PodOS{Name: corev1.Linux} })), nil},
		{"a stop signal is one of the system", all(container(signal), overlayPod(func(spec *corev1.PodSpec) { spec.OS = &corev1.PodOS{Name: corev1.Windows} })),
			[]string{"Unsupported value: spec.containers[0].lifecycle.stopSignal"}},
		{"a claim of the pod is accepted", all(container(claims), gpu), nil},
		{"a claim of the pod is accepted in the main container", all(gpu, func(box *model.ModelBox) {
			box.Spec.Resources = &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu", Request: "one"}}}
		}), nil},
		{"procMount Unmasked is accepted in a user namespace", all(unmasked, overlayPod(func(spec *corev1.PodSpec) { spec.HostUsers = ptr.To(false) })), nil},
		{"procMount Unmasked is refused with the host's users", all(unmasked, overlayPod(func(spec *corev1.PodSpec) { spec.HostUsers = ptr.To(true) })),
			[]string{"Invalid value: spec.containers[0].securityContext.procMount"}},
		{"a host process is accepted on the host's network", all(hostProcess, overlayPod(func(spec *corev1.PodSpec) { spec.HostNetwork = true })), nil},
		{"a volume of the overlay can be mounted", all(mounted, volumes(corev1.Volume{Name: "data", VolumeSource: claim()})), nil},
		{"a volume's source may come from the overlay", all(device, volumeNamed("data", corev1.VolumeSource{}), volumes(corev1.Volume{Name: "data", VolumeSource: claim()})), nil},
		{"a volume's source may stay out of the overlay", all(device, volume(claim()), volumes(corev1.Volume{Name: "data"})), nil},
		{"a target port may be named in the overlay", all(target, named("other", "admin")), nil},
		{"a target port may be named by a sidecar in the overlay", all(target, besideMain(ptr.To(corev1.ContainerRestartPolicyAlways))), nil},
		{"a target port may be named for a sidecar in the overlay", all(target, sidecar(func(*corev1.Container) {}), besideMain(nil)), nil},
		{"a target port is not named by an init container in the overlay", all(target, besideMain(nil)), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a probe's port may be named in the overlay", all(probe, named("web", "admin")), nil},
		{"a probe's port is not named for another container", all(probe, named("other", "admin")), []string{"Invalid value: spec.readinessProbe.tcpSocket.port"}},
	})
}
