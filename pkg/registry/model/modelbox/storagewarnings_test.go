// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

type boxChange = func(*model.ModelBox)

// volumeOf adds a volume of 1Gi that outlives the pods, and is retained.
func volumeOf(name string, modes ...corev1.PersistentVolumeAccessMode) boxChange {
	return func(box *model.ModelBox) {
		box.Spec.Storage = append(box.Spec.Storage, model.ModelBoxStorage{
			Name: name, MountPath: "/" + name, RequestedSize: resource.MustParse("1Gi"), AccessModes: modes, Retain: ptr.To(true),
		})
	}
}

func TestStorageWarnings(t *testing.T) {
	replicas := func(replicas int32) boxChange {
		return func(box *model.ModelBox) { box.Spec.Replicas = &replicas }
	}
	recreate := func(box *model.ModelBox) { box.Spec.Strategy = model.StrategyRecreate }
	const modes = "spec.storage[0].accessModes: "
	for _, row := range []struct {
		name    string
		changes []boxChange
		want    []string
	}{
		{"several pods do not get the volume of one node", []boxChange{volumeOf("data", corev1.ReadWriteOnce), recreate},
			[]string{modes + warn.SharedVolume("ReadWriteOnce", 2)}},
		{"several pods get the volume of all nodes", []boxChange{volumeOf("data", corev1.ReadWriteOnce, corev1.ReadWriteMany)}, nil},
		{"a new pod does not get the volume of an old one on another node", []boxChange{volumeOf("data", corev1.ReadWriteOnce), replicas(1)},
			[]string{modes + warn.VolumeOnOneNode("ReadWriteOnce")}},
		{"a new pod does not get the volume of an old one at all", []boxChange{volumeOf("data", corev1.ReadWriteOncePod), replicas(1)},
			[]string{modes + warn.VolumeNotReleased("ReadWriteOncePod")}},
		{"a new pod gets the volume once the old one is gone", []boxChange{volumeOf("data", corev1.ReadWriteOnce), replicas(1), recreate}, nil},
		{"the pods of a StatefulSet have a volume each", []boxChange{volumeOf("data", corev1.ReadWriteOnce), statefulSet}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.changes...)
			if diff := cmp.Diff(row.want, newStrategy(box).WarningsOnCreate(t.Context(), box), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStorageUpdateWarnings(t *testing.T) {
	stopped := func(box *model.ModelBox) { box.Status.Replicas = 0 } // of whose pods there is nothing to say
	paused := func(box *model.ModelBox) { box.Spec.Paused = true }
	discarded := func(box *model.ModelBox) { box.Spec.Storage[0].Retain = ptr.To(false) }
	grown := func(box *model.ModelBox) { box.Spec.Storage[0].RequestedSize = resource.MustParse("2Gi") }
	moved := func(box *model.ModelBox) { box.Spec.Storage[0].MountPath = "/elsewhere" }
	takenOut := func(box *model.ModelBox) { box.Spec.Storage = nil }
	replaced := "spec.storage: " + warn.ClaimTemplatesChange("web", "")
	for _, row := range []struct {
		name     string
		old, new []boxChange
		want     []string
	}{
		{"storage that is taken out is kept", []boxChange{volumeOf("data", corev1.ReadWriteMany)}, []boxChange{takenOut},
			[]string{"spec.storage: " + warn.ClaimsStay("PersistentVolumeClaim web-data is")}},
		{"storage that is taken out is deleted", []boxChange{volumeOf("data", corev1.ReadWriteMany), discarded}, []boxChange{takenOut},
			[]string{"spec.storage: " + warn.ClaimsDeleted("PersistentVolumeClaim web-data is", "")}},
		{"storage that is taken out is deleted after a pause", []boxChange{volumeOf("data", corev1.ReadWriteMany), discarded}, []boxChange{takenOut, paused},
			[]string{"spec.storage: " + warn.ClaimsDeleted("PersistentVolumeClaim web-data is", " when the box is unpaused")}},
		{"storage that is added deletes nothing", nil, []boxChange{volumeOf("data", corev1.ReadWriteMany)}, nil},
		{"storage of a Deployment grows", []boxChange{volumeOf("data", corev1.ReadWriteMany)}, []boxChange{grown}, nil},

		{"storage of a StatefulSet that is taken out is kept", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce)}, []boxChange{takenOut},
			[]string{"spec.storage: " + warn.ClaimsStay("PersistentVolumeClaims data-web-<ordinal> are"), replaced}},
		{"storage of a StatefulSet that is taken out is deleted", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce), discarded}, []boxChange{takenOut},
			[]string{"spec.storage: " + warn.ClaimsDeleted("PersistentVolumeClaims data-web-<ordinal> are", ""), replaced}},
		{"storage of a StatefulSet is added", []boxChange{statefulSet}, []boxChange{volumeOf("data", corev1.ReadWriteOnce)}, []string{replaced}},
		{"storage of a StatefulSet grows", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce)}, []boxChange{grown}, []string{replaced}},
		{"storage of a StatefulSet grows after a pause", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce)}, []boxChange{grown, paused},
			[]string{"spec.storage: " + warn.ClaimTemplatesChange("web", " when the box is unpaused")}},
		{"storage of a StatefulSet is mounted elsewhere", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce)}, []boxChange{moved}, nil},
		{"storage of a StatefulSet is retained no more", []boxChange{statefulSet, volumeOf("data", corev1.ReadWriteOnce)}, []boxChange{discarded}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(append(row.old, stopped)...)
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			got := newStrategy(old).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
