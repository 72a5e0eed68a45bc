// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

const (
	foreignServices = 10_000
	// maxForeignServiceBytes is what one of them may cost in memory.
	maxForeignServiceBytes = 1200
)

// A cluster may have many Services that ask for no Ingress.
func TestServicesWithoutTheAnnotationTakeLittleMemory(t *testing.T) {
	f, _, cluster := newTestFactories()
	serveForeignServices(t, cluster)
	trimmed := heapPerForeignService(t, f.Kube.Core().V1().Services().Informer())
	whole := heapPerForeignService(t, kubeinformers.NewSharedInformerFactory(cluster, 0).Core().V1().Services().Informer())
	t.Logf("%d Services without the annotation take %.0f bytes each, and would take %.0f whole", foreignServices, trimmed, whole)
	if trimmed > maxForeignServiceBytes {
		t.Errorf("each takes %.0f bytes, want %d at most", trimmed, maxForeignServiceBytes)
	}
}

// heapPerForeignService returns by how much the heap grows for each Service when the informer has listed them.
func heapPerForeignService(t *testing.T, informer cache.SharedIndexInformer) float64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before := liveHeap()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer does not sync")
	}
	after := liveHeap()
	if got := len(informer.GetStore().ListKeys()); got != foreignServices {
		t.Fatalf("the cache has %d Services", got)
	}
	return (after - before) / foreignServices
}

// liveHeap returns the bytes of the heap that are in use.
func liveHeap() float64 {
	// Twice, for what the first time only finalizes.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// serveForeignServices lets the server list Services as other users have them. It makes them for each list, so that only the cache
// keeps them. It decodes them from protobuf as from a server, so that no two share a string.
func serveForeignServices(t *testing.T, cluster *fake.Clientset) {
	cluster.PrependReactor("list", "services", func(clienttesting.Action) (bool, k8sruntime.Object, error) {
		list := &corev1.ServiceList{ListMeta: metav1.ListMeta{ResourceVersion: "100000"}, Items: make([]corev1.Service, foreignServices)}
		for i := range list.Items {
			data, err := foreignService(i).Marshal()
			if err != nil {
				t.Error(err)
			}
			if err := list.Items[i].Unmarshal(data); err != nil {
				t.Error(err)
			}
		}
		return true, list, nil
	})
}

// foreignService is a Service as "kubectl apply" leaves it in a cluster.
func foreignService(i int) *corev1.Service {
	name := fmt.Sprintf("checkout-%d", i)
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       fmt.Sprintf("team-%d", i%100),
			UID:             types.UID(fmt.Sprintf("4ec5d55a-0000-4000-8000-%012d", i)),
			ResourceVersion: fmt.Sprint(100000 + i),
			Labels:          map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop"},
			Annotations:     map[string]string{corev1.LastAppliedConfigAnnotation: strings.Repeat("x", 500), "ingress/http": "false"},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl-client-side-apply", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:ports":{` + strings.Repeat(" ", 500) + `}}}`),
			}},
		},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"},
			Selector: map[string]string{"app.kubernetes.io/name": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}},
		},
	}
}
