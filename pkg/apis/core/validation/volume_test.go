// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

const volumePath = "spec.volumes[0]"

func TestVolumes(t *testing.T) {
	named := func(names ...string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) {
			for _, name := range names {
				template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: emptyDir()})
			}
		}
	}
	check(t, []row{
		{"volumes are accepted", named("one", "two"), nil},
		{"a volume without a source is an emptyDir", volume(corev1.VolumeSource{}), nil},
		{"a volume has a name", named(""), []string{"Required value: " + volumePath + ".name"}},
		{"a volume's name is a DNS label", named("a.b"), []string{"Invalid value: " + volumePath + ".name"}},
		{"a volume's name is unique", named("one", "one"), []string{"Duplicate value: spec.volumes[1].name"}},
		{"a volume has one source", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}, HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}),
			[]string{"Forbidden: " + volumePath + ".hostPath"}},
		{"an emptyDir in memory with a limit is accepted", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("1Gi")),
		}}), nil},
		{"an emptyDir with the sticky bit is accepted", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Mode: ptr.To[int32](0o1777)}}), nil},
		{"an emptyDir's mode is at most 01777", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Mode: ptr.To[int32](0o2000)}}),
			[]string{"Invalid value: " + volumePath + ".emptyDir.mode"}},
		{"an emptyDir's limit is not negative", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("-1"))}}),
			[]string{"Invalid value: " + volumePath + ".emptyDir.sizeLimit"}},
		{"a claim is accepted", volume(claim()), nil},
		{"a claim has a name", volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}),
			[]string{"Required value: " + volumePath + ".persistentVolumeClaim.claimName"}},
	})
}

func TestHostPathsAndImages(t *testing.T) {
	hostPath := func(path string, kind corev1.HostPathType) func(*corev1.PodTemplateSpec) {
		return volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}})
	}
	image := func(reference string, policy corev1.PullPolicy) func(*corev1.PodTemplateSpec) {
		return volume(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: reference, PullPolicy: policy}})
	}
	nfs := func(server, path string) func(*corev1.PodTemplateSpec) {
		return volume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: server, Path: path}})
	}
	csi := func(driver string, secret *corev1.LocalObjectReference) func(*corev1.PodTemplateSpec) {
		return volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: driver, NodePublishSecretRef: secret}})
	}
	check(t, []row{
		{"a host path is accepted", hostPath("/data", corev1.HostPathUnset), nil},
		{"a host path that must exist is accepted", hostPath("/data", corev1.HostPathDirectory), nil},
		{"a host path is not empty", hostPath("", corev1.HostPathUnset), []string{"Required value: " + volumePath + ".hostPath.path"}},
		{"a host path has no backsteps", hostPath("/data/../etc", corev1.HostPathUnset), []string{"Invalid value: " + volumePath + ".hostPath.path"}},
		{"a host path's type is known", hostPath("/data", "Folder"), []string{"Unsupported value: " + volumePath + ".hostPath.type"}},
		{"an image is accepted", image("models:1", ""), nil},
		{"an image has a reference", image("", ""), []string{"Required value: " + volumePath + ".image.reference"}},
		{"an image's pullPolicy is known", image("models:1", "Sometimes"), []string{"Unsupported value: " + volumePath + ".image.pullPolicy"}},
		{"an NFS export is accepted", nfs("nfs.example.com", "/data"), nil},
		{"an NFS export has a server and a path", nfs("", ""), []string{"Required value: " + volumePath + ".nfs.server", "Required value: " + volumePath + ".nfs.path"}},
		{"an NFS export's path is absolute", nfs("nfs.example.com", "data"), []string{"Invalid value: " + volumePath + ".nfs.path"}},
		{"a CSI volume is accepted", csi("Secrets.csi.example.com", &corev1.LocalObjectReference{Name: "web"}), nil},
		{"a CSI volume has a driver", csi("", nil), []string{"Required value: " + volumePath + ".csi.driver"}},
		{"a CSI driver's name has at most 63 characters", csi(strings.Repeat("a", 64), nil), []string{"Too long: " + volumePath + ".csi.driver"}},
		{"a CSI driver's name is a DNS name", csi("a_b", nil), []string{"Invalid value: " + volumePath + ".csi.driver"}},
		{"a CSI volume's Secret has a name", csi("a", &corev1.LocalObjectReference{}), []string{"Required value: " + volumePath + ".csi.nodePublishSecretRef.name"}},
	})
}

func TestConfigMapAndSecretVolumes(t *testing.T) {
	configMap := func(change func(*corev1.ConfigMapVolumeSource)) func(*corev1.PodTemplateSpec) {
		source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}, Items: []corev1.KeyToPath{{Key: "a", Path: "b"}}}
		change(source)
		return volume(corev1.VolumeSource{ConfigMap: source})
	}
	secret := func(change func(*corev1.SecretVolumeSource)) func(*corev1.PodTemplateSpec) {
		source := &corev1.SecretVolumeSource{SecretName: "web", Items: []corev1.KeyToPath{{Key: "a", Path: "b"}}}
		change(source)
		return volume(corev1.VolumeSource{Secret: source})
	}
	itemPath := func(path string) func(*corev1.PodTemplateSpec) {
		return configMap(func(source *corev1.ConfigMapVolumeSource) { source.Items[0].Path = path })
	}
	const item = volumePath + ".configMap.items[0]"
	check(t, []row{
		{"a ConfigMap is accepted", configMap(func(source *corev1.ConfigMapVolumeSource) { source.DefaultMode = ptr.To[int32](0o777) }), nil},
		{"a ConfigMap has a name", configMap(func(source *corev1.ConfigMapVolumeSource) { source.Name = "" }), []string{"Required value: " + volumePath + ".configMap.name"}},
		{"a ConfigMap's mode is at most 0777", configMap(func(source *corev1.ConfigMapVolumeSource) { source.DefaultMode = ptr.To[int32](0o1000) }),
			[]string{"Invalid value: " + volumePath + ".configMap.defaultMode"}},
		{"a ConfigMap's mode is not negative", configMap(func(source *corev1.ConfigMapVolumeSource) { source.DefaultMode = ptr.To[int32](-1) }),
			[]string{"Invalid value: " + volumePath + ".configMap.defaultMode"}},
		{"a ConfigMap's user is accepted", configMap(func(source *corev1.ConfigMapVolumeSource) {
			source.DefaultUser, source.Items[0].User = ptr.To[int64](1000), ptr.To[int64](0)
		}), nil},
		{"a ConfigMap's user is not negative", configMap(func(source *corev1.ConfigMapVolumeSource) { source.DefaultUser = ptr.To[int64](-1) }),
			[]string{"Invalid value: " + volumePath + ".configMap.defaultUser"}},
		{"an item's user is not negative", configMap(func(source *corev1.ConfigMapVolumeSource) { source.Items[0].User = ptr.To[int64](-1) }),
			[]string{"Invalid value: " + item + ".user"}},
		{"an item has a key", configMap(func(source *corev1.ConfigMapVolumeSource) { source.Items[0].Key = "" }), []string{"Required value: " + item + ".key"}},
		{"an item's mode is at most 0777", configMap(func(source *corev1.ConfigMapVolumeSource) { source.Items[0].Mode = ptr.To[int32](0o1000) }),
			[]string{"Invalid value: " + item + ".mode"}},
		{"an item's path may have folders", itemPath("a/b"), nil},
		{"an item has a path", itemPath(""), []string{"Required value: " + item + ".path"}},
		{"an item's path is relative", itemPath("/a"), []string{"Invalid value: " + item + ".path"}},
		{"an item's path has no backsteps", itemPath("a/../b"), []string{"Invalid value: " + item + ".path"}},
		{"an item's path is not one of the kubelet's", itemPath("..data"), []string{"Invalid value: " + item + ".path"}},
		{"a Secret is accepted", secret(func(*corev1.SecretVolumeSource) {}), nil},
		{"a Secret has a name", secret(func(source *corev1.SecretVolumeSource) { source.SecretName = "" }), []string{"Required value: " + volumePath + ".secret.secretName"}},
		{"a Secret's name is a DNS name", secret(func(source *corev1.SecretVolumeSource) { source.SecretName = "Web" }), []string{"Invalid value: " + volumePath + ".secret.secretName"}},
		{"a Secret's mode is at most 0777", secret(func(source *corev1.SecretVolumeSource) { source.DefaultMode = ptr.To[int32](0o1000) }),
			[]string{"Invalid value: " + volumePath + ".secret.defaultMode"}},
		{"a Secret's user is not negative", secret(func(source *corev1.SecretVolumeSource) { source.DefaultUser = ptr.To[int64](-1) }),
			[]string{"Invalid value: " + volumePath + ".secret.defaultUser"}},
		{"a Secret's item has a path", secret(func(source *corev1.SecretVolumeSource) { source.Items[0].Path = "" }), []string{"Required value: " + volumePath + ".secret.items[0].path"}},
	})
}

func TestDownwardAPIVolumes(t *testing.T) {
	downward := func(file corev1.DownwardAPIVolumeFile) func(*corev1.PodTemplateSpec) {
		return volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{file}}})
	}
	labels := &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}
	const item = volumePath + ".downwardAPI.items[0]"
	check(t, []row{
		{"a file of all labels is accepted", downward(corev1.DownwardAPIVolumeFile{Path: "labels", FieldRef: labels}), nil},
		{"a file of a container's limit is accepted", downward(corev1.DownwardAPIVolumeFile{Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "web", Resource: "limits.cpu"}}), nil},
		{"a file has a path", downward(corev1.DownwardAPIVolumeFile{FieldRef: labels}), []string{"Required value: " + item + ".path"}},
		{"a file has a source", downward(corev1.DownwardAPIVolumeFile{Path: "a"}), []string{"Required value: " + item}},
		{"a file has one source", downward(corev1.DownwardAPIVolumeFile{Path: "a", FieldRef: labels, ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "web", Resource: "limits.cpu"}}),
			[]string{"Forbidden: " + item + ".resourceFieldRef"}},
		{"a file's field does not change with the node", downward(corev1.DownwardAPIVolumeFile{Path: "a", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}),
			[]string{"Unsupported value: " + item + ".fieldRef.fieldPath"}},
		{"a file's resource belongs to a container", downward(corev1.DownwardAPIVolumeFile{Path: "a", ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}),
			[]string{"Required value: " + item + ".resourceFieldRef.containerName"}},
		{"a file's mode is at most 0777", downward(corev1.DownwardAPIVolumeFile{Path: "a", FieldRef: labels, Mode: ptr.To[int32](0o1000)}), []string{"Invalid value: " + item + ".mode"}},
		{"a file's user is not negative", downward(corev1.DownwardAPIVolumeFile{Path: "a", FieldRef: labels, User: ptr.To[int64](-1)}), []string{"Invalid value: " + item + ".user"}},
		{"the files' user is not negative", volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{DefaultUser: ptr.To[int64](-1)}}),
			[]string{"Invalid value: " + volumePath + ".downwardAPI.defaultUser"}},
		{"the files' mode is at most 0777", volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{DefaultMode: ptr.To[int32](0o1000)}}),
			[]string{"Invalid value: " + volumePath + ".downwardAPI.defaultMode"}},
	})
}
