// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func ephemeral(change func(*corev1.PersistentVolumeClaimTemplate)) corev1.VolumeSource {
	template := &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: quantities{"storage": "1Gi"}.list()},
	}}
	change(template)
	return corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}}
}

func TestEphemeralVolumes(t *testing.T) {
	spec := func(change func(*corev1.PersistentVolumeClaimSpec)) func(*corev1.PodTemplateSpec) {
		return volume(ephemeral(func(template *corev1.PersistentVolumeClaimTemplate) { change(&template.Spec) }))
	}
	meta := func(meta metav1.ObjectMeta) func(*corev1.PodTemplateSpec) {
		return volume(ephemeral(func(template *corev1.PersistentVolumeClaimTemplate) { template.ObjectMeta = meta }))
	}
	modes := func(modes ...corev1.PersistentVolumeAccessMode) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PersistentVolumeClaimSpec) { s.AccessModes = modes })
	}
	source := func(apiGroup *string, kind, name string) func(*corev1.PersistentVolumeClaimSpec) {
		return func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: apiGroup, Kind: kind, Name: name}
		}
	}
	ref := func(apiGroup *string, kind, name string, namespace *string) func(*corev1.PersistentVolumeClaimSpec) {
		return func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: apiGroup, Kind: kind, Name: name, Namespace: namespace}
		}
	}
	both := func(changes ...func(*corev1.PersistentVolumeClaimSpec)) func(*corev1.PodTemplateSpec) {
		return spec(func(s *corev1.PersistentVolumeClaimSpec) {
			for _, change := range changes {
				change(s)
			}
		})
	}
	snapshots := ptr.To("snapshot.storage.k8s.io")
	const template, claimSpec = volumePath + ".ephemeral.volumeClaimTemplate", volumePath + ".ephemeral.volumeClaimTemplate.spec"
	check(t, []row{
		{"a claim template is accepted", meta(metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"a": "b"}}), nil},
		{"an ephemeral volume has a claim template", volume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}), []string{"Required value: " + template}},
		{"a claim template has no name", meta(metav1.ObjectMeta{Name: "a"}), []string{"Forbidden: " + template + ".metadata"}},
		{"a claim template's labels are labels", meta(metav1.ObjectMeta{Labels: map[string]string{"a": "b c"}}), []string{"Invalid value: " + template + ".metadata.labels"}},
		{"a claim has an access mode", modes(), []string{"Required value: " + claimSpec + ".accessModes"}},
		{"a claim's access mode is known", modes("ReadOnce"), []string{"Unsupported value: " + claimSpec + ".accessModes[0]"}},
		{"a claim for one pod is for one pod", modes(corev1.ReadWriteOncePod, corev1.ReadOnlyMany), []string{"Forbidden: " + claimSpec + ".accessModes"}},
		{"a claim has a size", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests = nil }), []string{"Required value: " + claimSpec + ".resources.requests[storage]"}},
		{"a claim's size is above 0", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests = quantities{"storage": "0"}.list() }),
			[]string{"Invalid value: " + claimSpec + ".resources.requests[storage]"}},
		{"a claim of no class is accepted", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("") }), nil},
		{"a claim's class is a DNS name", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("Fast") }), []string{"Invalid value: " + claimSpec + ".storageClassName"}},
		{"a claim's attributes class is a DNS name", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeAttributesClassName = ptr.To("Fast") }),
			[]string{"Invalid value: " + claimSpec + ".volumeAttributesClassName"}},
		{"a claim's volumeMode is known", spec(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeMode = ptr.To(corev1.PersistentVolumeMode("Tape")) }),
			[]string{"Unsupported value: " + claimSpec + ".volumeMode"}},
		{"a claim's selector is a selector", spec(func(s *corev1.PersistentVolumeClaimSpec) {
			s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b c"}}
		}), []string{"Invalid value: " + claimSpec + ".selector.matchLabels"}},

		{"a copy of a claim is accepted", both(source(nil, "PersistentVolumeClaim", "a")), nil},
		{"a copy of a snapshot is accepted", both(source(snapshots, "VolumeSnapshot", "a"), ref(snapshots, "VolumeSnapshot", "a", nil)), nil},
		{"a copy of a snapshot elsewhere is accepted", both(ref(snapshots, "VolumeSnapshot", "a", ptr.To("other"))), nil},
		{"a copy has a kind and a name", both(source(snapshots, "", "")), []string{"Required value: " + claimSpec + ".dataSource.name", "Required value: " + claimSpec + ".dataSource.kind"}},
		{"a copy of something else has a group", both(source(nil, "VolumeSnapshot", "a")), []string{"Invalid value: " + claimSpec + ".dataSource.kind"}},
		{"a copy's group is a DNS name", both(ref(ptr.To("a_b"), "VolumeSnapshot", "a", nil)), []string{"Invalid value: " + claimSpec + ".dataSourceRef.apiGroup"}},
		{"a copy's namespace is one", both(ref(snapshots, "VolumeSnapshot", "a", ptr.To("a.b"))), []string{"Invalid value: " + claimSpec + ".dataSourceRef.namespace"}},
		{"a copy is of one object", both(source(snapshots, "VolumeSnapshot", "a"), ref(snapshots, "VolumeSnapshot", "b", nil)), []string{"Invalid value: " + claimSpec + ".dataSource"}},
		{"a copy from elsewhere is given in one way", both(source(snapshots, "VolumeSnapshot", "a"), ref(snapshots, "VolumeSnapshot", "a", ptr.To("other"))),
			[]string{"Forbidden: " + claimSpec + ".dataSource"}},
	})
}
