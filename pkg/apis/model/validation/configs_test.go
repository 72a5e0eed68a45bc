// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

func TestConfigs(t *testing.T) {
	version := strings.TrimPrefix(helper.VersionedConfigMapName("web", "a", map[string]string{"web.conf": ""}, nil), "web-")
	check(t, []row{
		{"a config of the main container is accepted", config("", "/etc/web"), nil},
		{"configs of several containers are accepted", all(container(func(*corev1.Container) {}), initContainer(func(*corev1.Container) {}),
			config("", "/etc/web"), config("side", "/etc/side", ofContainer("side")), config("prepare", "/etc/prepare", ofContainer("prepare")),
			config("main", "/etc/main", ofContainer("web"))), nil},
		{"every rollout is accepted", all(config("", "/a", rollsOut(model.ConfigRolloutRestart)), config("b", "/b", rollsOut(model.ConfigRolloutLive)),
			config("c", "/c", rollsOut(model.ConfigRolloutVersioned))), nil},
		{"another rollout is refused", config("", "/etc/web", rollsOut("Never")), []string{"Unsupported value: spec.configs[0].rollout"}},

		{"a name is a DNS label", config("Web_1", "/etc/web"), []string{"Invalid value: spec.configs[0].name"}},
		{"a name leaves room for the name of the volume", config(strings.Repeat("x", 56), "/etc/web"), nil},
		{"a name that leaves none is refused", config(strings.Repeat("x", 57), "/etc/web"), []string{"Too long: spec.configs[0].name"}},
		{"a name that is longer than any is refused once", config(strings.Repeat("x", 64), "/etc/web"), []string{"Invalid value: spec.configs[0].name"}},
		{"two configs without a name are refused", all(config("", "/a"), config("", "/b")), []string{"Duplicate value: spec.configs[1].name"}},
		{"two configs of a name are refused", all(config("a", "/a"), config("a", "/b", rollsOut(model.ConfigRolloutVersioned))), []string{"Duplicate value: spec.configs[1].name"}},
		{"a config that is called as the version of another one is refused", all(config("a", "/a", rollsOut(model.ConfigRolloutVersioned)), config(version, "/b")),
			[]string{"Invalid value: spec.configs[1].name"}},
		{"a volume of the name is refused", all(volumeNamed("config-a", emptyDir()), config("a", "/a")), []string{"Invalid value: spec.configs[0].name"}},
		{"a volume of the name of a config without one is refused", all(volumeNamed("config", emptyDir()), config("", "/a")), []string{"Invalid value: spec.configs[0].name"}},
		{"storage of the name is refused", all(storageAt("config", "/data"), config("", "/a")), []string{"Invalid value: spec.configs[0].name"}},
		{"a volume of the name in the overlay is refused", all(overlayPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: emptyDir()}}
		}), config("", "/a")), []string{"Invalid value: spec.configs[0].name"}},
		{"another ConfigMap in the overlay is refused", all(overlayPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "other"}}}}}
		}), config("", "/a")), []string{"Invalid value: spec.configs[0].name"}},
		{"the overlay may say how the files are shown", all(overlayPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				Items: []corev1.KeyToPath{{Key: "web.conf", Path: "conf"}}}}}}
		}), config("", "/a")), nil},

		{"a mountPath is required", config("", ""), []string{"Required value: spec.configs[0].mountPath"}},
		{"a mountPath has no colon", config("", "/a:b"), []string{"Invalid value: spec.configs[0].mountPath"}},
		{"a mountPath of another config is refused", all(config("a", "/a"), config("b", "/a")), []string{"Duplicate value: spec.configs[1].mountPath"}},
		{"a mountPath of a volume is refused", all(volume(emptyDir()), mount("data", "/a"), config("", "/a")), []string{"Duplicate value: spec.configs[0].mountPath"}},
		{"a mountPath of storage is refused", all(storageAt("data", "/a"), config("", "/a")), []string{"Duplicate value: spec.configs[0].mountPath"}},
		{"a mountPath of a volume of its container is refused", all(volume(emptyDir()), container(func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/a"}}
		}), config("", "/a", ofContainer("side"))), []string{"Duplicate value: spec.configs[0].mountPath"}},
		{"a mountPath of a device of its container is refused", all(volume(claim()), container(func(c *corev1.Container) {
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/a"}}
		}), config("", "/a", ofContainer("side"))), []string{"Duplicate value: spec.configs[0].mountPath"}},
		{"a mountPath of a volume of another container is accepted", all(volume(emptyDir()), mount("data", "/a"), container(func(*corev1.Container) {}),
			config("", "/a", ofContainer("side"))), nil},
		{"a mountPath of a volume in the overlay is refused", all(volume(emptyDir()), overlayPod(func(spec *corev1.PodSpec) {
			spec.Containers = []corev1.Container{{Name: "web", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/a"}}}}
		}), config("", "/a")), []string{"Duplicate value: spec.configs[0].mountPath"}},
		{"the overlay may say how the config is mounted", all(overlayPod(func(spec *corev1.PodSpec) {
			spec.Containers = []corev1.Container{{Name: "web", VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/a", SubPath: "web.conf"}}}}
		}), config("", "/a")), nil},
		{"a second mount of the config is accepted", all(container(func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/a"}}
		}), config("", "/a")), nil},
		{"the mount of the config itself is refused", all(mount("config", "/a"), config("", "/a")), []string{"Duplicate value: spec.configs[0].mountPath"}},

		{"a container that the box does not have is refused", config("", "/a", ofContainer("metrics")), []string{"Not found: spec.configs[0].container"}},
		{"a container of the overlay is refused", all(overlayPod(func(spec *corev1.PodSpec) {
			spec.Containers = []corev1.Container{{Name: "metrics", Image: "metrics:1"}}
		}), config("", "/a", ofContainer("metrics"))), []string{"Not found: spec.configs[0].container"}},

		{"data are required", config("", "/a", hasFiles()), []string{"Required value: spec.configs[0].data"}},
		{"binary data are enough", config("", "/a", hasFiles(), hasBinaryFiles("logo.ico")), nil},
		{"both are accepted", config("", "/a", hasBinaryFiles("logo.ico")), nil},
		{"a file in both is refused", config("", "/a", hasBinaryFiles("logo.ico", "web.conf")), []string{"Duplicate value: spec.configs[0].binaryData[web.conf]"}},
		{"names of binary files have what keys of ConfigMaps may have", config("", "/a", hasBinaryFiles("a/b", "..")), []string{
			"Invalid value: spec.configs[0].binaryData[..]", "Invalid value: spec.configs[0].binaryData[a/b]"}},
		{"a config that is called as the version of one with other binary data is accepted", all(
			config("a", "/a", rollsOut(model.ConfigRolloutVersioned), hasBinaryFiles("logo.ico")), config(version, "/b")), nil},
		{"names of files have what keys of ConfigMaps may have", config("", "/a", hasFiles("a.b-c_D", ".hidden", "...", "a/b", "..", "ü", "")), []string{
			"Invalid value: spec.configs[0].data[]", "Invalid value: spec.configs[0].data[..]", "Invalid value: spec.configs[0].data[...]",
			"Invalid value: spec.configs[0].data[a/b]", "Invalid value: spec.configs[0].data[ü]"}},
		{"a name of a file may have 253 characters", config("", "/a", hasFiles(strings.Repeat("x", 253))), nil},
		{"a longer name of a file is refused", config("", "/a", hasFiles(strings.Repeat("x", 254))), []string{"Invalid value: spec.configs[0].data[" + strings.Repeat("x", 254) + "]"}},
	})
}

// config adds a config with the file web.conf.
func config(name, mountPath string, changes ...func(*model.ModelBoxConfig)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		config := model.ModelBoxConfig{Name: name, MountPath: mountPath, Data: map[string]string{"web.conf": ""}, Rollout: model.ConfigRolloutRestart}
		for _, change := range changes {
			change(&config)
		}
		box.Spec.Configs = append(box.Spec.Configs, config)
	}
}

func ofContainer(name string) func(*model.ModelBoxConfig) {
	return func(config *model.ModelBoxConfig) { config.Container = name }
}

func rollsOut(rollout model.ConfigRollout) func(*model.ModelBoxConfig) {
	return func(config *model.ModelBoxConfig) { config.Rollout = rollout }
}

// hasFiles replaces the files of a config by empty ones.
func hasFiles(names ...string) func(*model.ModelBoxConfig) {
	return func(config *model.ModelBoxConfig) {
		config.Data = map[string]string{}
		for _, name := range names {
			config.Data[name] = ""
		}
	}
}

// hasBinaryFiles adds binary files to a config.
func hasBinaryFiles(names ...string) func(*model.ModelBoxConfig) {
	return func(config *model.ModelBoxConfig) {
		config.BinaryData = map[string][]byte{}
		for _, name := range names {
			config.BinaryData[name] = []byte{0xff}
		}
	}
}

func mount(volume, path string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.VolumeMounts = append(box.Spec.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
	}
}

func storageAt(name, path string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Storage = append(box.Spec.Storage, model.ModelBoxStorage{
			Name: name, MountPath: path, RequestedSize: resource.MustParse("1Gi"), Retain: ptr.To(true),
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		})
	}
}
