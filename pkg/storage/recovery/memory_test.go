// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	goruntime "runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// A record of a few kilobytes can decode to a box of 4 MiB, and users with permission to write Deployments can write many.
func TestRecordsAreNotKeptDecoded(t *testing.T) {
	const (
		boxes       = 16
		maxKeptHeap = 16 << 20
	)
	var children []runtime.Object
	for i := range boxes {
		children = append(children, deploymentOf(t, box(fmt.Sprintf("box-%d", i), types.UID(fmt.Sprint(i)), func(box *modelv1.ModelBox) {
			box.Spec.Volumes = make([]corev1.Volume, 15000)
			box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: "shop", UID: "stack"}}
		})))
	}
	f := newFixture(t, children...)
	r, err := newRecoverer(t.Context(), Empty, f.boxes, &cluster{kube: f.config.KubeClient, metadata: f.config.MetadataClient}, newOwners())
	if err != nil {
		t.Fatal(err)
	}
	before := heapBytes()
	if err := r.restoreAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept := heapBytes() - before; len(r.owned) != boxes || kept > maxKeptHeap {
		t.Errorf("%d boxes to restore take %d bytes of memory", len(r.owned), kept)
	}
	for name, restored := range r.owned {
		if restored.memory < maxKeptHeap/boxes {
			t.Errorf("%s is estimated to take %d bytes while it is written", name, restored.memory)
		}
	}
	if err := r.restoreOwned(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, stored := range f.stored() {
		if len(stored.Spec.Volumes) != 15000 || len(stored.OwnerReferences) != 0 {
			t.Errorf("%s has %d volumes and the owners %v", name, len(stored.Spec.Volumes), stored.OwnerReferences)
		}
	}
}

// heapBytes returns the bytes of live heap objects.
func heapBytes() int64 {
	goruntime.GC()
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
