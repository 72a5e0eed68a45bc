// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// volumeSize is the capacity of the volumes of CreateVolumes, and the default size of storage in tests.
const volumeSize = "1Gi"

// CreateVolumes creates a storage class with the name of the namespace, and volumes of the class with the size of WithStorage.
// Claims of the class can be expanded if expandable is true. All are deleted at the end of the test.
func (n *Namespace) CreateVolumes(count int, expandable bool) {
	n.T.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: n.Name},
		Provisioner:          "kubernetes.io/no-provisioner",
		AllowVolumeExpansion: &expandable,
	}
	if _, err := n.ControlPlane.KubeClient.StorageV1().StorageClasses().Create(n.Ctx, class, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(func() {
		_ = n.ControlPlane.KubeClient.StorageV1().StorageClasses().Delete(context.WithoutCancel(n.Ctx), class.Name, metav1.DeleteOptions{})
	})
	for i := range count {
		n.createVolume(fmt.Sprintf("%s-%d", n.Name, i), class.Name, nil)
	}
}

// CreateVolumeFor creates a volume for a claim without a storage class. It is deleted at the end of the test.
func (n *Namespace) CreateVolumeFor(claim string) {
	n.T.Helper()
	n.createVolume(n.Name+"-"+claim, "", &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: n.Name, Name: claim})
}

func (n *Namespace) createVolume(name, class string, claim *corev1.ObjectReference) {
	n.T.Helper()
	volumes := n.ControlPlane.KubeClient.CoreV1().PersistentVolumes()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(volumeSize)},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              class,
			ClaimRef:                      claim,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/" + name}},
		},
	}
	if _, err := volumes.Create(n.Ctx, volume, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(func() { _ = volumes.Delete(context.WithoutCancel(n.Ctx), name, metav1.DeleteOptions{}) })
}

// WithStorage returns a change that sets storage with the name, in the class of CreateVolumes.
func (n *Namespace) WithStorage(name string, changes ...func(*modelv1.ModelBoxStorage)) func(*modelv1.ModelBoxSpec) {
	return WithStorage(n.Name, name, changes...)
}

// WithStorage returns a change that sets storage with the class and the name.
func WithStorage(class, name string, changes ...func(*modelv1.ModelBoxStorage)) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		storage := modelv1.ModelBoxStorage{Name: name, MountPath: "/" + name, RequestedSize: resource.MustParse(volumeSize), StorageClassName: &class}
		for _, change := range changes {
			change(&storage)
		}
		i := slices.IndexFunc(spec.Storage, func(storage modelv1.ModelBoxStorage) bool { return storage.Name == name })
		if i < 0 {
			spec.Storage = append(spec.Storage, storage)
			return
		}
		spec.Storage[i] = storage
	}
}

// WithoutStorage removes all storage from the box.
func WithoutStorage(spec *modelv1.ModelBoxSpec) { spec.Storage = nil }

// Discarded makes storage deleted with its box.
func Discarded(storage *modelv1.ModelBoxStorage) { storage.Retain = ptr.To(false) }

// Sized returns a change of the size of storage.
func Sized(size string) func(*modelv1.ModelBoxStorage) {
	return func(storage *modelv1.ModelBoxStorage) { storage.RequestedSize = resource.MustParse(size) }
}

// AwaitClaim waits until check returns nil for a PersistentVolumeClaim, and returns the claim.
func (n *Namespace) AwaitClaim(name, what string, check func(*corev1.PersistentVolumeClaim) error) *corev1.PersistentVolumeClaim {
	n.T.Helper()
	var claim *corev1.PersistentVolumeClaim
	n.Eventually(fmt.Sprintf("PersistentVolumeClaim %s %s", name, what), func() (err error) {
		if claim, err = n.Claims.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(claim)
	})
	return claim
}

// AwaitBoundClaim waits until a PersistentVolumeClaim is bound, and returns it.
func (n *Namespace) AwaitBoundClaim(name string) *corev1.PersistentVolumeClaim {
	n.T.Helper()
	return n.AwaitClaim(name, "is bound", func(claim *corev1.PersistentVolumeClaim) error {
		if claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("it is %s", claim.Status.Phase)
		}
		return nil
	})
}

// AwaitClaimSize waits until a PersistentVolumeClaim requests the size, and returns it.
func (n *Namespace) AwaitClaimSize(name, size string) *corev1.PersistentVolumeClaim {
	n.T.Helper()
	return n.AwaitClaim(name, "asks for "+size, func(claim *corev1.PersistentVolumeClaim) error {
		if got := claim.Spec.Resources.Requests.Storage().String(); got != size {
			return fmt.Errorf("it asks for %s", got)
		}
		return nil
	})
}

// AwaitNoClaim waits until the PersistentVolumeClaim does not exist.
func (n *Namespace) AwaitNoClaim(name string) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("PersistentVolumeClaim %s is gone", name), func() error {
		_, err := n.Claims.Get(n.Ctx, name, metav1.GetOptions{})
		return CheckGone(err)
	})
}
