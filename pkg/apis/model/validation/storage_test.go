// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// storage adds a volume "disk" at /disk that outlives the pods, after the defaults.
func storage(change func(*model.ModelBoxStorage)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		added := model.ModelBoxStorage{
			Name:          "disk",
			MountPath:     "/disk",
			RequestedSize: resource.MustParse("1Gi"),
			AccessModes:   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Retain:        ptr.To(true),
		}
		change(&added)
		box.Spec.Storage = append(box.Spec.Storage, added)
	}
}

func storageNamed(name, mountPath string) func(*model.ModelBox) {
	return storage(func(s *model.ModelBoxStorage) { s.Name, s.MountPath = name, mountPath })
}

func storageSize(size string) func(*model.ModelBox) {
	return storage(func(s *model.ModelBoxStorage) { s.RequestedSize = resource.MustParse(size) })
}

func storageClass(name *string) func(*model.ModelBox) {
	return storage(func(s *model.ModelBoxStorage) { s.StorageClassName = name })
}

func storageModes(modes ...corev1.PersistentVolumeAccessMode) func(*model.ModelBox) {
	return storage(func(s *model.ModelBoxStorage) { s.AccessModes = modes })
}

func storageRetain(name string, retain bool) func(*model.ModelBox) {
	return storage(func(s *model.ModelBoxStorage) { s.Name, s.MountPath, s.Retain = name, "/"+name, &retain })
}

// runAs makes the box one of the workload that an update replaces as Kubernetes does by default.
func runAs(workload model.Workload) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Workload, box.Spec.RollingUpdate = workload, nil
		if workload == model.WorkloadDaemonSet {
			box.Spec.Replicas = nil
		}
	}
}

func scaledTo(replicas int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas = &replicas }
}

func TestStorage(t *testing.T) {
	plain := storage(func(*model.ModelBoxStorage) {})
	mount := func(name, path string) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.VolumeMounts = append(box.Spec.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		}
	}
	overlay := func(spec corev1.PodSpec) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: spec} }
	}
	const path = "spec.storage[0]."
	check(t, []row{
		{"storage of a Deployment is accepted", plain, nil},
		{"storage of a StatefulSet is accepted", all(runAs(model.WorkloadStatefulSet), plain), nil},
		{"storage of a DaemonSet is refused", all(runAs(model.WorkloadDaemonSet), plain), []string{"Forbidden: spec.storage"}},

		{"storage has a name", storageNamed("", "/a"), []string{"Required value: " + path + "name"}},
		{"a name is a DNS label", storageNamed("My_Disk", "/a"), []string{"Invalid value: " + path + "name"}},
		{"a name is given once", all(storageNamed("a", "/a"), storageNamed("a", "/b")), []string{"Duplicate value: spec.storage[1].name"}},
		{"a name differs from names of volumes", all(volumeNamed("a", emptyDir()), storageNamed("a", "/a")), []string{"Duplicate value: " + path + "name"}},
		{"a name differs from names of volumes of the overlay", all(overlay(corev1.PodSpec{Volumes: []corev1.Volume{{Name: "a", VolumeSource: emptyDir()}}}), storageNamed("a", "/a")),
			[]string{"Duplicate value: " + path + "name"}},

		{"storage is mounted", storageNamed("a", ""), []string{"Required value: " + path + "mountPath"}},
		{"a mount path has no colon", storageNamed("a", "/a:b"), []string{"Invalid value: " + path + "mountPath"}},
		{"a mount path is given once", all(storageNamed("a", "/a"), storageNamed("b", "/a")), []string{"Duplicate value: spec.storage[1].mountPath"}},
		{"a mount path differs from mount paths of volumes", all(volumeNamed("a", emptyDir()), mount("a", "/a"), storageNamed("b", "/a")), []string{"Duplicate value: " + path + "mountPath"}},
		{"another container mounts it as well", all(plain, container(func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{Name: "disk", MountPath: "/disk"}}
		})), nil},
		{"the main container mounts it once more", all(plain, mount("disk", "/again")), nil},

		{"storage has a size", storage(func(s *model.ModelBoxStorage) { s.RequestedSize = resource.Quantity{} }), []string{"Required value: " + path + "size"}},
		{"a size is above 0", storageSize("0"), []string{"Invalid value: " + path + "size"}},
		{"a size is not negative", storageSize("-1Gi"), []string{"Invalid value: " + path + "size"}},

		{"storage without a class is accepted", storageClass(ptr.To("")), nil},
		{"a class is a DNS name", storageClass(ptr.To("Fast")), []string{"Invalid value: " + path + "storageClassName"}},

		{"access modes are known", storageModes("ReadOnce"), []string{"Unsupported value: " + path + "accessModes[0]"}},
		{"several access modes are accepted", storageModes(corev1.ReadOnlyMany, corev1.ReadWriteMany), nil},
		{"ReadWriteOncePod is alone", all(scaledTo(1), storageModes(corev1.ReadWriteOncePod, corev1.ReadOnlyMany)), []string{"Forbidden: " + path + "accessModes"}},
		{"ReadWriteOncePod is for one pod", storageModes(corev1.ReadWriteOncePod), []string{"Forbidden: " + path + "accessModes"}},
		{"ReadWriteOncePod is accepted of one pod", all(scaledTo(1), storageModes(corev1.ReadWriteOncePod)), nil},
		{"ReadWriteOncePod is accepted of pods that share nothing", all(runAs(model.WorkloadStatefulSet), storageModes(corev1.ReadWriteOncePod)), nil},

		{"some storage of a Deployment is retained", all(storageRetain("a", true), storageRetain("b", false)), nil},
		{"some storage of a StatefulSet cannot be retained", all(runAs(model.WorkloadStatefulSet), storageRetain("a", true), storageRetain("b", false)),
			[]string{"Invalid value: spec.storage[1].retain"}},
		{"no storage of a StatefulSet is retained", all(runAs(model.WorkloadStatefulSet), storageRetain("a", false), storageRetain("b", false)), nil},
	})
}

func TestStorageUpdate(t *testing.T) {
	const path = "spec.storage[0]."
	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"a volume grows", storageSize("1Gi"), storageSize("2Gi"), nil},
		{"a size is written in another way", storageSize("1Gi"), storageSize("1024Mi"), nil},
		{"a size stays above 0", storageSize("1Gi"), storageSize("0"), []string{"Invalid value: " + path + "size"}},
		{"a class does not change", storageClass(ptr.To("a")), storageClass(ptr.To("b")), []string{"Invalid value: " + path + "storageClassName"}},
		{"a class is not added", storageClass(nil), storageClass(ptr.To("a")), []string{"Invalid value: " + path + "storageClassName"}},
		{"a class is not taken out", storageClass(ptr.To("")), storageClass(nil), []string{"Invalid value: " + path + "storageClassName"}},
		{"access modes do not change", storageModes(corev1.ReadWriteOnce), storageModes(corev1.ReadWriteMany), []string{"Invalid value: " + path + "accessModes"}},
		{"what becomes of it changes", storageRetain("a", true), storageRetain("a", false), nil},
		{"its mount path changes", storageNamed("a", "/a"), storageNamed("a", "/b"), nil},
		{"it is added", func(*model.ModelBox) {}, storageSize("1Gi"), nil},
		{"it is taken out", storageSize("1Gi"), func(*model.ModelBox) {}, nil},
		{"it is another one", storageNamed("a", "/a"), all(storageNamed("b", "/a"), func(box *model.ModelBox) { box.Spec.Storage[0].RequestedSize = resource.MustParse("1Mi") }), nil},
		{"it moves in the list", all(storageNamed("a", "/a"), storageClass(ptr.To("a"))), all(storageClass(ptr.To("b")), storageNamed("a", "/a")),
			[]string{"Invalid value: " + path + "storageClassName"}},
		{"a volume for one pod gets more of them", all(scaledTo(1), storageModes(corev1.ReadWriteOncePod)), storageModes(corev1.ReadWriteOncePod), []string{"Forbidden: " + path + "accessModes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			old.ResourceVersion, box.ResourceVersion = "1", "1"
			row.old(old)
			row.new(box)
			errs := validateUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
