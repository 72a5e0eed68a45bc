// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	boxfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	boxinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

// BenchmarkHeapPerBox fills the caches of a controller with boxes of one pod each, and reports what one of them costs
// in memory with its Deployment, Service and pod. The peer is the same objects as the servers return them.
func BenchmarkHeapPerBox(b *testing.B) {
	const boxes = 2000
	heapPerBox(b, boxes, newCaches) // for the initialization that happens only once
	for b.Loop() {
		trimmed, whole := heapPerBox(b, boxes, newCaches), heapPerBox(b, boxes, newWholeCaches)
		b.ReportMetric(trimmed, "heap-B/box")
		b.ReportMetric(whole, "untrimmed-heap-B/box")
		b.ReportMetric(trimmed/whole, "of-untrimmed")
	}
	b.ReportMetric(0, "ns/op") // which is of no interest
}

// caches are informers that are not started yet.
type caches struct {
	start     func(ctx context.Context)
	stop      func()
	hasSynced []cache.InformerSynced
}

// newCaches returns the caches of a controller.
func newCaches(b *testing.B, boxes *boxfake.Clientset, cluster *fixture.Cluster) *caches {
	b.Helper()
	f := &testController{boxes: boxes, cluster: cluster}
	f.newController(b)
	return &caches{
		start:     f.informers.Start,
		stop:      func() { f.informers.Shutdown(); f.Queue.ShutDown() },
		hasSynced: []cache.InformerSynced{f.HasSynced},
	}
}

// newWholeCaches returns informers for the same objects that keep all of them.
func newWholeCaches(b *testing.B, boxes *boxfake.Clientset, cluster *fixture.Cluster) *caches {
	b.Helper()
	boxFactory := boxinformers.NewSharedInformerFactory(boxes, time.Hour)
	childFactory := informers.NewSharedInformerFactory(cluster, 0)
	c := &caches{
		start: func(ctx context.Context) {
			boxFactory.StartWithContext(ctx)
			childFactory.StartWithContext(ctx)
		},
		stop: func() {
			boxFactory.Shutdown()
			childFactory.Shutdown()
		},
	}
	f := &testController{boxes: boxes, cluster: cluster}
	f.newController(b)
	byOwner := f.children.Indexers()
	for _, cached := range []struct {
		informer cache.SharedIndexInformer
		indexers cache.Indexers
	}{
		{boxFactory.Model().V1().ModelBoxes().Informer(), nil},
		{childFactory.Apps().V1().Deployments().Informer(), byOwner},
		{childFactory.Core().V1().Services().Informer(), byOwner},
		{childFactory.Core().V1().Pods().Informer(), cache.Indexers{kinds.ByBox: indexBy(kinds.PodBoxKey)}},
	} {
		if err := cached.informer.AddIndexers(cached.indexers); err != nil {
			b.Fatal(err)
		}
		c.hasSynced = append(c.hasSynced, cached.informer.HasSynced)
	}
	return c
}

// heapPerBox returns by how much the heap grows for each box when the caches are filled.
func heapPerBox(b *testing.B, boxes int, newCaches func(*testing.B, *boxfake.Clientset, *fixture.Cluster) *caches) float64 {
	b.Helper()
	boxServer, cluster := boxfake.NewSimpleClientset(), fixture.NewCluster()
	serveBoxes(b, boxServer, cluster, boxes)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()

	before := liveHeap()
	filled := newCaches(b, boxServer, cluster)
	filled.start(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), filled.hasSynced...) {
		b.Fatal("the caches do not sync")
	}
	after := liveHeap()
	cancel()
	filled.stop()
	return (after - before) / float64(boxes)
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

// serveBoxes lets the servers list that many boxes, each with its children. It makes the objects for each list, so that only the
// caches keep them.
func serveBoxes(b *testing.B, boxServer *boxfake.Clientset, cluster *fixture.Cluster, boxes int) {
	b.Helper()
	list := func(server *clienttesting.Fake, resource string, list func() k8sruntime.Object) {
		server.PrependReactor("list", resource, func(clienttesting.Action) (bool, k8sruntime.Object, error) {
			return true, list(), nil
		})
	}
	box, deployment, service, pod := &modelv1.ModelBox{}, &appsv1.Deployment{}, &corev1.Service{}, &corev1.Pod{}
	for file, into := range map[string]any{"modelbox": box, "deployment": deployment, "service": service, "pod": pod} {
		fixture.Read(b, os.DirFS("."), "testdata/heap/"+file+".yaml", into)
	}
	list(&boxServer.Fake, "modelboxes", func() k8sruntime.Object {
		return &modelv1.ModelBoxList{ListMeta: newestVersion, Items: decoded[modelv1.ModelBox](b, box, boxes)}
	})
	list(&cluster.Fake, "deployments", func() k8sruntime.Object {
		return &appsv1.DeploymentList{ListMeta: newestVersion, Items: decoded[appsv1.Deployment](b, deployment, boxes)}
	})
	list(&cluster.Fake, "services", func() k8sruntime.Object {
		return &corev1.ServiceList{ListMeta: newestVersion, Items: decoded[corev1.Service](b, service, boxes)}
	})
	list(&cluster.Fake, "pods", func() k8sruntime.Object {
		return &corev1.PodList{ListMeta: newestVersion, Items: decoded[corev1.Pod](b, pod, boxes)}
	})
}

var newestVersion = metav1.ListMeta{ResourceVersion: "100000"}

// protobufObject is a pointer to an API type that is sent as protobuf.
type protobufObject[T any] interface {
	*T
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// decoded returns that many objects, each of another box. They come out of protobuf as from a server, so that no two
// share a string.
func decoded[T any, P protobufObject[T]](b *testing.B, template P, boxes int) []T {
	objects := make([]T, boxes)
	for i := range objects {
		name := fmt.Sprintf("checkout-%d", i)
		template.SetName(name)
		template.SetUID(types.UID(fmt.Sprintf("%T-%d", template, i)))
		if owner := metav1.GetControllerOfNoCopy(template); owner != nil && owner.Kind == "ModelBox" {
			owner.Name, owner.UID = name, types.UID(fmt.Sprintf("%T-%d", &modelv1.ModelBox{}, i))
		}
		if labels := template.GetLabels(); labels != nil {
			labels[modelv1.SelectorLabel] = name
		}
		data, err := template.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		if err := P(&objects[i]).Unmarshal(data); err != nil {
			b.Fatal(err)
		}
	}
	return objects
}
