// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// servicesVariable is the environment variable with the number of Services, such as 10000. One in annotatedOneIn is annotated.
	servicesVariable = "MODELBOX_E2E_SERVICES"
	fewServices      = 150
	annotatedOneIn   = 10
	// serviceWriters is the number of clients that create the Services.
	serviceWriters = 16

	// maxForeignBytes is the maximum memory of the server for a Service without the annotation. memorySlack is for other memory
	// meanwhile.
	maxForeignBytes = 2 << 10
	memorySlack     = 8 << 20

	// restartPatience is the timeout for a restarted server to reconcile all Services.
	restartPatience = 3 * time.Minute
)

// TestManyServices measures the cost of annotated Services among many others: one write each, no write after a restart of the
// server, and almost no memory for the others.
func TestManyServices(t *testing.T) {
	t.Parallel()
	plane := newControlPlane(t)
	n := plane.NewNamespace(t)
	count := framework.Setting(t, servicesVariable, fewServices, strconv.Atoi)
	annotated := count / annotatedOneIn

	// Let the server first load everything that it only loads once.
	awaitServicesSeen(n, 0)
	empty := liveHeap(n)
	createServices(n, "other", count-annotated)
	awaitServicesSeen(n, count-annotated)
	others := liveHeap(n) - empty
	t.Logf("%d Services without the annotation: %.1f MiB of heap, %.0f bytes each", count-annotated, others/(1<<20), others/float64(count-annotated))
	if most := float64(count-annotated)*maxForeignBytes + memorySlack; others > most {
		t.Errorf("they take %.0f bytes, want %.0f at most", others, most)
	}
	framework.ExpectEqual(t, "writes for Services without the annotation", 0, len(n.Audit.ClusterWrites()))

	begun, spent := time.Now(), processMetric(n, "process_cpu_seconds_total")
	createServices(n, "annotated", annotated, "ingress/http=true")
	created := time.Since(begun)
	awaitIngresses(n, annotated)
	t.Logf("%d annotated among %d: created in %.1f s, all Ingresses after %.1f s, %.1f s of CPU, heap grown by %.1f MiB, resident %.0f MiB",
		annotated, count, created.Seconds(), time.Since(begun).Seconds(), processMetric(n, "process_cpu_seconds_total")-spent,
		(liveHeap(n)-empty-others)/(1<<20), processMetric(n, "process_resident_memory_bytes")/(1<<20))
	written := map[string]int{}
	for _, write := range n.Audit.ClusterWrites() {
		written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
	}
	for i := range annotated {
		write := fmt.Sprintf("patch ingresses annotated-%d", i)
		framework.ExpectEqual(t, "times of "+write, 1, written[write])
		delete(written, write)
	}
	framework.ExpectEqual(t, "other writes", map[string]int{}, written)

	one := time.Now()
	create(n, "ingress/http=true")
	awaitIngress(n, byDefault)
	t.Logf("one more has its Ingress after %s", time.Since(one).Round(time.Millisecond))

	writes := len(n.Audit.ClusterWrites())
	terminated := plane.ServerPID(t)
	plane.SignalServer(t, syscall.SIGTERM)
	n.AwaitServerRestart(terminated)
	framework.Eventually(t, restartPatience, "every Service was looked at again", func() error {
		if looked := reconcileCount(n); looked < annotated {
			return fmt.Errorf("it has looked %d times", looked)
		}
		return nil
	})
	t.Logf("after a restart, the server has a heap of %.1f MiB, resident %.0f MiB", liveHeap(n)/(1<<20), processMetric(n, "process_resident_memory_bytes")/(1<<20))
	for _, write := range n.Audit.ClusterWrites()[writes:] {
		t.Errorf("a write although the server only restarted: %s %s", write.Verb, write.RequestURI)
	}
}

// createServices creates Services with a prefix, of a usual size.
func createServices(n *framework.Namespace, prefix string, count int, annotations ...string) {
	n.T.Helper()
	annotations = append(slices.Clone(annotations), "example.com/notes="+strings.Repeat("x", 1000))
	var creating sync.WaitGroup
	for writer := range serviceWriters {
		creating.Go(func() {
			for i := writer; i < count; i += serviceWriters {
				service := newService(fmt.Sprintf("%s-%d", prefix, i), annotations...)
				service.Labels = map[string]string{"app.kubernetes.io/name": service.Name, "app.kubernetes.io/part-of": "shop"}
				if _, err := n.Services.Create(n.Ctx, service, metav1.CreateOptions{}); err != nil {
					n.T.Errorf("creating Service %s: %v", service.Name, err)
				}
			}
		})
	}
	creating.Wait()
}

// awaitServicesSeen waits until the server has observed all Services. It receives events in order: it has observed them when a
// later Service has an Ingress.
func awaitServicesSeen(n *framework.Namespace, count int) {
	n.T.Helper()
	last := n.ControlPlane.NewNamespace(n.T)
	create(last, "ingress/http=true")
	framework.Eventually(n.T, framework.Patience+time.Duration(count)*time.Millisecond, "the server has seen the last Service", func() error {
		_, err := getIngress(last)
		return err
	})
}

// awaitIngresses waits until the number of Ingresses exists.
func awaitIngresses(n *framework.Namespace, count int) {
	n.T.Helper()
	framework.Eventually(n.T, framework.Patience+time.Duration(count)*100*time.Millisecond, fmt.Sprintf("there are %d Ingresses", count), func() error {
		list, err := n.ControlPlane.KubeClient.NetworkingV1().Ingresses(n.Name).List(n.Ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		if got := len(list.Items); got != count {
			return fmt.Errorf("there are %d", got)
		}
		return nil
	})
}

func processMetric(n *framework.Namespace, name string) float64 {
	n.T.Helper()
	return framework.Sum(framework.Scrape(n.T, n.ControlPlane.DirectClient(n.T)), name, nil)
}

// liveHeap returns the bytes of live objects in the heap of the server.
func liveHeap(n *framework.Namespace) float64 {
	n.T.Helper()
	// Run the garbage collection twice, because a sync.Pool keeps its objects over one collection.
	for range 2 {
		if err := n.ControlPlane.DirectClient(n.T).Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Do(n.Ctx).Error(); err != nil {
			n.T.Fatalf("collecting the server's garbage: %v", err)
		}
	}
	return processMetric(n, "go_memstats_heap_alloc_bytes")
}

// reconcileCount returns the number of reconciles of Services by the current process of the server.
func reconcileCount(n *framework.Namespace) int {
	n.T.Helper()
	return int(processMetric(n, "serviceingress_controller_reconcile_duration_seconds_count"))
}
