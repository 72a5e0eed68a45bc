// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// claims returns the PersistentVolumeClaims of a box whose pods share its volumes. A retained claim has no owner reference: it
// remains after the deletion of the box, and a later box of the same name uses it.
func claims(box *modelv1.ModelBox) []*applycorev1.PersistentVolumeClaimApplyConfiguration {
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		return nil
	}
	configurations := make([]*applycorev1.PersistentVolumeClaimApplyConfiguration, 0, len(box.Spec.Storage))
	for i := range box.Spec.Storage {
		storage := &box.Spec.Storage[i]
		claim := applycorev1.PersistentVolumeClaim(helper.ClaimName(box.Name, storage.Name), box.Namespace).
			WithLabels(labels(box)).
			WithAnnotations(box.Spec.Annotations).
			WithSpec(claimSpec(storage))
		if !*storage.Retain {
			claim.WithOwnerReferences(render.OwnerReference(box, Kind))
		}
		configurations = append(configurations, claim)
	}
	return configurations
}

// volumeClaimTemplates returns the templates for the claims of each pod of a StatefulSet. They are immutable. Therefore, they only
// have the labels that no update of the box can change.
func volumeClaimTemplates(box *modelv1.ModelBox) []*applycorev1.PersistentVolumeClaimApplyConfiguration {
	templates := make([]*applycorev1.PersistentVolumeClaimApplyConfiguration, 0, len(box.Spec.Storage))
	for i := range box.Spec.Storage {
		storage := &box.Spec.Storage[i]
		template := applycorev1.PersistentVolumeClaim(storage.Name, "").
			WithLabels(map[string]string{
				modelv1.SelectorLabel: box.Name,
				instanceLabel:         box.Name,
				render.ManagedByLabel: render.ManagedBy,
			}).
			WithSpec(claimSpec(storage))
		// Protobuf does not encode the kind of an object inside another object. The live StatefulSet would not have it.
		template.Namespace, template.APIVersion, template.Kind = nil, nil, nil
		templates = append(templates, template)
	}
	return templates
}

// claimRetentionPolicy returns the policy for the claims of a StatefulSet after its deletion. The claims of pods that were scaled
// down are kept until the pods exist again. It returns nil for a box without storage.
func claimRetentionPolicy(spec *modelv1.ModelBoxSpec) *applyappsv1.StatefulSetPersistentVolumeClaimRetentionPolicyApplyConfiguration {
	if len(spec.Storage) == 0 {
		return nil
	}
	whenDeleted := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	if !*spec.Storage[0].Retain {
		whenDeleted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	return applyappsv1.StatefulSetPersistentVolumeClaimRetentionPolicy().
		WithWhenDeleted(whenDeleted).
		WithWhenScaled(appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
}

func claimSpec(storage *modelv1.ModelBoxStorage) *applycorev1.PersistentVolumeClaimSpecApplyConfiguration {
	spec := applycorev1.PersistentVolumeClaimSpec().
		WithAccessModes(storage.AccessModes...).
		WithResources(applycorev1.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: storage.RequestedSize}))
	spec.StorageClassName = storage.StorageClassName
	return spec
}

// claimVolumes returns the volumes for the storage of a box.
func claimVolumes(box *modelv1.ModelBox) []corev1.Volume {
	volumes := make([]corev1.Volume, 0, len(box.Spec.Storage))
	for i := range box.Spec.Storage {
		name := box.Spec.Storage[i].Name
		source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: helper.ClaimName(box.Name, name)}
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}})
	}
	return volumes
}

// storageMounts returns the volume mounts of the main container for its storage.
func storageMounts(spec *modelv1.ModelBoxSpec) []corev1.VolumeMount {
	mounts := make([]corev1.VolumeMount, 0, len(spec.Storage))
	for i := range spec.Storage {
		mounts = append(mounts, corev1.VolumeMount{Name: spec.Storage[i].Name, MountPath: spec.Storage[i].MountPath})
	}
	return mounts
}
