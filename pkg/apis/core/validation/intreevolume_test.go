// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestProviderVolumes(t *testing.T) {
	check(t, []row{
		{"provider volumes with what they need are accepted", all(
			volumeNamed("git", corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{Repository: "https://example.com/a.git", Directory: "."}}),
			volumeNamed("gce", corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "a", Partition: 1}}),
			volumeNamed("aws", corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "a"}}),
			volumeNamed("azure-file", corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "a", ShareName: "b"}}),
			volumeNamed("gluster", corev1.VolumeSource{Glusterfs: &corev1.GlusterfsVolumeSource{EndpointsName: "a", Path: "b"}}),
			volumeNamed("rbd", corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a"}, RBDImage: "b"}}),
			volumeNamed("ceph", corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{Monitors: []string{"a"}}}),
			volumeNamed("cinder", corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "a", SecretRef: &corev1.LocalObjectReference{Name: "b"}}}),
			volumeNamed("flex", corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Driver: "a", Options: map[string]string{"b": "c"}}}),
			volumeNamed("flocker", corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{DatasetUUID: "a"}}),
			volumeNamed("vsphere", corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "a"}}),
			volumeNamed("quobyte", corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "a:1,b:2", Volume: "c"}}),
			volumeNamed("photon", corev1.VolumeSource{PhotonPersistentDisk: &corev1.PhotonPersistentDiskVolumeSource{PdID: "a"}}),
			volumeNamed("portworx", corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "a"}}),
			volumeNamed("scale-io", corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{Gateway: "a", System: "b", VolumeName: "c", SecretRef: &corev1.LocalObjectReference{Name: "d"}}}),
			volumeNamed("storage-os", corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{VolumeName: "a", VolumeNamespace: "b"}}),
		), nil},

		{"a gitRepo has a repository", volume(corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{}}), []string{"Required value: " + volumePath + ".gitRepo.repository"}},
		{"a gitRepo's directory is relative", volume(corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{Repository: "a", Directory: "/b"}}), []string{"Invalid value: " + volumePath + ".gitRepo.directory"}},
		{"a gcePersistentDisk has a name", volume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{}}), []string{"Required value: " + volumePath + ".gcePersistentDisk.pdName"}},
		{"a partition is 255 at most", volume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "a", Partition: 256}}), []string{"Invalid value: " + volumePath + ".gcePersistentDisk.partition"}},
		{"an awsElasticBlockStore has an ID", volume(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{Partition: -1}}),
			[]string{"Required value: " + volumePath + ".awsElasticBlockStore.volumeID", "Invalid value: " + volumePath + ".awsElasticBlockStore.partition"}},
		{"an azureFile has a Secret and a share", volume(corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{}}), []string{"Required value: " + volumePath + ".azureFile.secretName", "Required value: " + volumePath + ".azureFile.shareName"}},
		{"a glusterfs has endpoints and a path", volume(corev1.VolumeSource{Glusterfs: &corev1.GlusterfsVolumeSource{}}), []string{"Required value: " + volumePath + ".glusterfs.endpoints", "Required value: " + volumePath + ".glusterfs.path"}},
		{"an rbd has monitors and an image", volume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}}), []string{"Required value: " + volumePath + ".rbd.monitors", "Required value: " + volumePath + ".rbd.image"}},
		{"a cephfs has monitors", volume(corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{}}), []string{"Required value: " + volumePath + ".cephfs.monitors"}},
		{"a cinder has an ID", volume(corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{}}), []string{"Required value: " + volumePath + ".cinder.volumeID"}},
		{"a cinder's Secret has a name", volume(corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "a", SecretRef: &corev1.LocalObjectReference{}}}), []string{"Required value: " + volumePath + ".cinder.secretRef.name"}},
		{"a flexVolume has a driver", volume(corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{}}), []string{"Required value: " + volumePath + ".flexVolume.driver"}},
		{"a flexVolume's options are not Kubernetes' own", volume(corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Driver: "a", Options: map[string]string{"b.K8s.io/c": ""}}}),
			[]string{"Invalid value: " + volumePath + ".flexVolume.options[b.K8s.io/c]"}},
		{"a flocker has a dataset", volume(corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{}}), []string{"Required value: " + volumePath + ".flocker"}},
		{"a flocker has one dataset", volume(corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{DatasetName: "a", DatasetUUID: "b"}}), []string{"Forbidden: " + volumePath + ".flocker.datasetUUID"}},
		{"a flocker's dataset has no slash", volume(corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{DatasetName: "a/b"}}), []string{"Invalid value: " + volumePath + ".flocker.datasetName"}},
		{"a vsphereVolume has a path", volume(corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{}}), []string{"Required value: " + volumePath + ".vsphereVolume.volumePath"}},
		{"a quobyte has a registry and a volume", volume(corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{}}), []string{"Required value: " + volumePath + ".quobyte.registry", "Required value: " + volumePath + ".quobyte.volume"}},
		{"a quobyte's registry has ports", volume(corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "a:1,b", Volume: "c"}}), []string{"Invalid value: " + volumePath + ".quobyte.registry"}},
		{"a quobyte's tenant has at most 64 characters", volume(corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "a:1", Volume: "c", Tenant: strings.Repeat("a", 65)}}), []string{"Too long: " + volumePath + ".quobyte.tenant"}},
		{"a photonPersistentDisk has an ID", volume(corev1.VolumeSource{PhotonPersistentDisk: &corev1.PhotonPersistentDiskVolumeSource{}}), []string{"Required value: " + volumePath + ".photonPersistentDisk.pdID"}},
		{"a portworxVolume has an ID", volume(corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{}}), []string{"Required value: " + volumePath + ".portworxVolume.volumeID"}},
		{"a scaleIO has a gateway, a system and a volume", volume(corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{}}),
			[]string{"Required value: " + volumePath + ".scaleIO.gateway", "Required value: " + volumePath + ".scaleIO.system", "Required value: " + volumePath + ".scaleIO.volumeName"}},
		{"a storageos has a volume", volume(corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{}}), []string{"Required value: " + volumePath + ".storageos.volumeName"}},
		{"a storageos' namespace is a DNS label", volume(corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{VolumeName: "a", VolumeNamespace: "B"}}), []string{"Invalid value: " + volumePath + ".storageos.volumeNamespace"}},
	})
}

func TestDiskVolumes(t *testing.T) {
	iscsi := func(change func(*corev1.ISCSIVolumeSource)) corev1.VolumeSource {
		source := &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2024-01.com.example:storage"}
		change(source)
		return corev1.VolumeSource{ISCSI: source}
	}
	azure := func(change func(*corev1.AzureDiskVolumeSource)) corev1.VolumeSource {
		source := &corev1.AzureDiskVolumeSource{DiskName: "a", DataDiskURI: "https://example.com/a.vhd"}
		change(source)
		return corev1.VolumeSource{AzureDisk: source}
	}
	fc := func(source corev1.FCVolumeSource) corev1.VolumeSource { return corev1.VolumeSource{FC: &source} }
	check(t, []row{
		{"an iscsi is accepted", volume(iscsi(func(*corev1.ISCSIVolumeSource) {})), nil},
		{"an iscsi of an EUI is accepted", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.IQN = "eui.0123456789abcdef" })), nil},
		{"an iscsi has a portal and a name", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.TargetPortal, s.IQN = "", "" })),
			[]string{"Required value: " + volumePath + ".iscsi.targetPortal", "Required value: " + volumePath + ".iscsi.iqn"}},
		{"an iscsi's name is an iSCSI name", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.IQN = "iqn.com.example" })), []string{"Invalid value: " + volumePath + ".iscsi.iqn"}},
		{"an iscsi's initiator is an iSCSI name", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.InitiatorName = ptr.To("web") })), []string{"Invalid value: " + volumePath + ".iscsi.initiatorName"}},
		{"an iscsi's LUN is 255 at most", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.Lun = 256 })), []string{"Invalid value: " + volumePath + ".iscsi.lun"}},
		{"an iscsi with CHAP has a Secret", volume(iscsi(func(s *corev1.ISCSIVolumeSource) { s.SessionCHAPAuth = true })), []string{"Required value: " + volumePath + ".iscsi.secretRef"}},
		{"an iscsi with an initiator has a short name", volumeNamed(strings.Repeat("a", 56), iscsi(func(s *corev1.ISCSIVolumeSource) { s.InitiatorName = &s.IQN })),
			[]string{"Invalid value: " + volumePath + ".name"}},

		{"an fc with WWNs and a LUN is accepted", volume(fc(corev1.FCVolumeSource{TargetWWNs: []string{"a"}, Lun: ptr.To[int32](0)})), nil},
		{"an fc with WWIDs is accepted", volume(fc(corev1.FCVolumeSource{WWIDs: []string{"a"}})), nil},
		{"an fc has a target", volume(fc(corev1.FCVolumeSource{})), []string{"Required value: " + volumePath + ".fc"}},
		{"an fc has one kind of target", volume(fc(corev1.FCVolumeSource{TargetWWNs: []string{"a"}, WWIDs: []string{"a"}, Lun: ptr.To[int32](0)})), []string{"Forbidden: " + volumePath + ".fc.wwids"}},
		{"an fc with WWNs has a LUN", volume(fc(corev1.FCVolumeSource{TargetWWNs: []string{"a"}})), []string{"Required value: " + volumePath + ".fc.lun"}},
		{"an fc's LUN is 255 at most", volume(fc(corev1.FCVolumeSource{TargetWWNs: []string{"a"}, Lun: ptr.To[int32](256)})), []string{"Invalid value: " + volumePath + ".fc.lun"}},

		{"an azureDisk is accepted", volume(azure(func(*corev1.AzureDiskVolumeSource) {})), nil},
		{"a managed azureDisk is accepted", volume(azure(func(s *corev1.AzureDiskVolumeSource) {
			s.Kind, s.DataDiskURI = ptr.To(corev1.AzureManagedDisk), "/subscriptions/a"
		})), nil},
		{"an azureDisk has a name and a URI", volume(azure(func(s *corev1.AzureDiskVolumeSource) { s.DiskName, s.DataDiskURI = "", "" })),
			[]string{"Required value: " + volumePath + ".azureDisk.diskName", "Required value: " + volumePath + ".azureDisk.diskURI"}},
		{"a managed azureDisk has a managed URI", volume(azure(func(s *corev1.AzureDiskVolumeSource) { s.Kind = ptr.To(corev1.AzureManagedDisk) })), []string{"Invalid value: " + volumePath + ".azureDisk.diskURI"}},
		{"an azureDisk's cachingMode is known", volume(azure(func(s *corev1.AzureDiskVolumeSource) { s.CachingMode = ptr.To(corev1.AzureDataDiskCachingMode("All")) })), []string{"Unsupported value: " + volumePath + ".azureDisk.cachingMode"}},
		{"an azureDisk's kind is known", volume(azure(func(s *corev1.AzureDiskVolumeSource) { s.Kind = ptr.To(corev1.AzureDataDiskKind("Tape")) })), []string{"Unsupported value: " + volumePath + ".azureDisk.kind"}},
	})
}
