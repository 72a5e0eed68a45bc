// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// mount adds an emptyDir volume "data" and mounts it at /data of the main container.
func mount(change func(*corev1.VolumeMount)) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) {
		volume(emptyDir())(template)
		template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		change(&template.Spec.Containers[0].VolumeMounts[0])
	}
}

func TestVolumeMounts(t *testing.T) {
	again := func(path string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].VolumeMounts = append(template.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: path})
		}
	}
	asIs := func(*corev1.VolumeMount) {}
	check(t, []row{
		{"a mount is accepted", mount(asIs), nil},
		{"a volume may be mounted twice", all(mount(asIs), again("/other")), nil},
		{"a volume is mounted at one place once", all(mount(asIs), again("/data")), []string{"Duplicate value: spec.containers[0].volumeMounts[1].mountPath"}},
		{"a mount names a volume", mount(func(m *corev1.VolumeMount) { m.Name = "" }), []string{"Required value: spec.containers[0].volumeMounts[0].name"}},
		{"a mount names a volume of the box", mount(func(m *corev1.VolumeMount) { m.Name = "other" }), []string{"Not found: spec.containers[0].volumeMounts[0].name"}},
		{"a mount has a path", mount(func(m *corev1.VolumeMount) { m.MountPath = "" }), []string{"Required value: spec.containers[0].volumeMounts[0].mountPath"}},
		{"a mount's path has no colon", mount(func(m *corev1.VolumeMount) { m.MountPath = "/data:ro" }), []string{"Invalid value: spec.containers[0].volumeMounts[0].mountPath"}},
		{"a mount's path may be on a drive of Windows", mount(func(m *corev1.VolumeMount) { m.MountPath = `C:\data` }), nil},
		{"a sub path is accepted", mount(func(m *corev1.VolumeMount) { m.SubPath = "a/..b" }), nil},
		{"a sub path is relative", mount(func(m *corev1.VolumeMount) { m.SubPath = "/a" }), []string{"Invalid value: spec.containers[0].volumeMounts[0].subPath"}},
		{"a sub path has no backsteps", mount(func(m *corev1.VolumeMount) { m.SubPath = "a/../b" }), []string{"Invalid value: spec.containers[0].volumeMounts[0].subPath"}},
		{"a sub path of variables is accepted", mount(func(m *corev1.VolumeMount) { m.SubPathExpr = "$(POD_NAME)" }), nil},
		{"a sub path of variables is relative", mount(func(m *corev1.VolumeMount) { m.SubPathExpr = "/$(POD_NAME)" }), []string{"Invalid value: spec.containers[0].volumeMounts[0].subPathExpr"}},
		{"a sub path is given in one way", mount(func(m *corev1.VolumeMount) { m.SubPath, m.SubPathExpr = "a", "b" }), []string{"Forbidden: spec.containers[0].volumeMounts[0].subPathExpr"}},

		{"mountPropagation HostToContainer is accepted", mount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationHostToContainer) }), nil},
		{"mountPropagation Both is refused", mount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationMode("Both")) }),
			[]string{"Unsupported value: spec.containers[0].volumeMounts[0].mountPropagation"}},
		{"mountPropagation Bidirectional is not for the main container", mount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationBidirectional) }),
			[]string{"Forbidden: spec.containers[0].volumeMounts[0].mountPropagation"}},
		{"mountPropagation Bidirectional is for privileged containers", all(volume(emptyDir()), container(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
			c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data", MountPropagation: ptr.To(corev1.MountPropagationBidirectional)}}
		})), nil},

		{"recursiveReadOnly goes with readOnly", mount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly = true, ptr.To(corev1.RecursiveReadOnlyEnabled)
		}), nil},
		{"recursiveReadOnly Disabled goes with anything", mount(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyDisabled) }), nil},
		{"recursiveReadOnly needs readOnly", mount(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyIfPossible) }),
			[]string{"Forbidden: spec.containers[0].volumeMounts[0].recursiveReadOnly"}},
		{"recursiveReadOnly needs a mount that does not spread", mount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly, m.MountPropagation = true, ptr.To(corev1.RecursiveReadOnlyEnabled), ptr.To(corev1.MountPropagationHostToContainer)
		}), []string{"Forbidden: spec.containers[0].volumeMounts[0].recursiveReadOnly"}},
		{"recursiveReadOnly Maybe is refused", mount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly = true, ptr.To(corev1.RecursiveReadOnlyMode("Maybe"))
		}),
			[]string{"Unsupported value: spec.containers[0].volumeMounts[0].recursiveReadOnly"}},

		{"bindMountOptions are accepted", mount(func(m *corev1.VolumeMount) { m.BindMountOptions = []string{"noexec", "nodev", "nosuid"} }), nil},
		{"bindMountOptions are of those there are", mount(func(m *corev1.VolumeMount) { m.BindMountOptions = []string{"ro"} }),
			[]string{"Unsupported value: spec.containers[0].volumeMounts[0].bindMountOptions[0]"}},
		{"bindMountOptions are listed once", mount(func(m *corev1.VolumeMount) { m.BindMountOptions = []string{"noexec", "noexec"} }),
			[]string{"Duplicate value: spec.containers[0].volumeMounts[0].bindMountOptions[1]"}},
		{"bindMountOptions are none of an image", all(mount(func(m *corev1.VolumeMount) { m.BindMountOptions = []string{"noexec"} }), func(template *corev1.PodTemplateSpec) {
			template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "data:1"}}
		}), []string{"Forbidden: spec.containers[0].volumeMounts[0].bindMountOptions"}},

		{"a container's mount names a volume of the box", container(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}} }),
			[]string{"Not found: spec.containers[1].volumeMounts[0].name"}},
	})
}

func TestVolumeDevices(t *testing.T) {
	devices := func(source corev1.VolumeSource, change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
		return all(volume(source), container(func(c *corev1.Container) {
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/xvda"}}
			change(c)
		}))
	}
	asIs := func(*corev1.Container) {}
	const device = "spec.containers[1].volumeDevices[0]"
	check(t, []row{
		{"a device on a claim is accepted", devices(claim(), asIs), nil},
		{"a device on an ephemeral volume is accepted", devices(ephemeral(func(*corev1.PersistentVolumeClaimTemplate) {}), asIs), nil},
		{"a device is not on an emptyDir", devices(emptyDir(), asIs), []string{"Invalid value: " + device + ".name"}},
		{"a device names a volume", devices(claim(), func(c *corev1.Container) { c.VolumeDevices[0].Name = "" }), []string{"Required value: " + device + ".name"}},
		{"a device names a volume of the box", devices(claim(), func(c *corev1.Container) { c.VolumeDevices[0].Name = "other" }), []string{"Not found: " + device + ".name"}},
		{"a device has a path", devices(claim(), func(c *corev1.Container) { c.VolumeDevices[0].DevicePath = "" }), []string{"Required value: " + device + ".devicePath"}},
		{"a device's path has no backsteps", devices(claim(), func(c *corev1.Container) { c.VolumeDevices[0].DevicePath = "/dev/../a" }), []string{"Invalid value: " + device + ".devicePath"}},
		{"a volume is a device once", devices(claim(), func(c *corev1.Container) {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: "data", DevicePath: "/dev/xvdb"})
		}), []string{"Duplicate value: spec.containers[1].volumeDevices[1].name"}},
		{"a path has one device", all(devices(claim(), func(c *corev1.Container) {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: "more", DevicePath: "/dev/xvda"})
		}), func(template *corev1.PodTemplateSpec) {
			template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: "more", VolumeSource: claim()})
		}), []string{"Duplicate value: spec.containers[1].volumeDevices[1].devicePath"}},
		{"a device is not mounted as well", devices(claim(), func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}} }),
			[]string{"Invalid value: " + device + ".name"}},
		{"a device's path is not mounted as well", all(volumeNamed("more", emptyDir()), devices(claim(), func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{Name: "more", MountPath: "/dev/xvda"}}
		})), []string{"Invalid value: " + device + ".devicePath"}},
	})
}
