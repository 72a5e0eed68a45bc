// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cachehealth

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
)

var pods = corev1.Resource("pods")

// testDependencies runs a test, in a time of its own, with informers of a cluster that refuses to list pods while
// isForbidden says so.
func testDependencies(t *testing.T, isForbidden *atomic.Bool, test func(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory, monitor *Monitor)) {
	t.Helper()
	// What slows down errors goes by the time of the machine.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	synctest.Test(t, func(t *testing.T) {
		cluster := fake.NewClientset()
		cluster.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return isForbidden.Load(), nil, apierrors.NewForbidden(pods, "", errors.New("no"))
		})
		ctx, stop := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(cluster, 0)
		defer factory.Shutdown()
		defer stop()
		test(t, ctx, factory, NewMonitor())
	})
}

// dependOn adds the pods to the dependencies of a controller of its own.
func dependOn(t *testing.T, factory informers.SharedInformerFactory, monitor *Monitor, add func(*Dependencies, cache.SharedIndexInformer, cache.InformerSynced) error) *Dependencies {
	t.Helper()
	d := monitor.NewDependencies()
	informer := factory.Core().V1().Pods().Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	if err != nil {
		t.Fatal(err)
	}
	if err := add(d, informer, registration.HasSynced); err != nil {
		t.Fatal(err)
	}
	return d
}

func require(d *Dependencies, informer cache.SharedIndexInformer, hasSynced cache.InformerSynced) error {
	return d.AddRequired(pods, informer, hasSynced)
}

func prefer(d *Dependencies, informer cache.SharedIndexInformer, hasSynced cache.InformerSynced) error {
	return d.AddOptional(pods, informer, hasSynced)
}

func TestControllersThatShareACacheSeeTheSameFailure(t *testing.T) {
	var isForbidden atomic.Bool
	isForbidden.Store(true)
	testDependencies(t, &isForbidden, func(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory, monitor *Monitor) {
		first, second, optional := dependOn(t, factory, monitor, require), dependOn(t, factory, monitor, require), dependOn(t, factory, monitor, prefer)
		if got := len(monitor.caches); got != 1 {
			t.Errorf("%d caches are checked, want 1", got)
		}
		factory.StartWithContext(ctx)
		go monitor.Run(ctx)

		ended := make(chan error, 3)
		for _, d := range []*Dependencies{first, second, optional} {
			go func() { ended <- d.Watch(ctx) }()
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, ErrCacheNotSynced) || !strings.Contains(err.Error(), "cannot list or watch pods") {
				t.Errorf("got error %v", err)
			}
		}
		for name, d := range map[string]*Dependencies{"first": first, "second": second} {
			if err := d.CheckHealth(); !errors.Is(err, ErrCacheNotSynced) || d.HasSynced() {
				t.Errorf("the %s controller: got health %v, synced %t", name, err, d.HasSynced())
			}
		}
		if err := optional.CheckHealth(); err != nil || !optional.HasSynced() {
			t.Errorf("the controller that does not need it: got health %v, synced %t", err, optional.HasSynced())
		}
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("the controller that does not need it gave up: %v", err)
		default:
		}
	})
}

func TestWaitForSyncGoesOnWithoutAnOptionalCacheAfterItsTimeout(t *testing.T) {
	var isForbidden atomic.Bool
	isForbidden.Store(true)
	testDependencies(t, &isForbidden, func(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory, monitor *Monitor) {
		d := dependOn(t, factory, monitor, prefer)
		factory.StartWithContext(ctx)
		begin := time.Now()
		if !d.WaitForSync(ctx) {
			t.Error("it was given up")
		}
		if took := time.Since(begin).Round(time.Second); took != syncTimeout {
			t.Errorf("it took %s, want %s", took, syncTimeout)
		}
	})
}

func TestWaitForSyncWaitsForARequiredCache(t *testing.T) {
	var isForbidden atomic.Bool
	isForbidden.Store(true)
	testDependencies(t, &isForbidden, func(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory, monitor *Monitor) {
		d := dependOn(t, factory, monitor, require)
		factory.StartWithContext(ctx)
		limited, cancel := context.WithTimeout(ctx, 10*time.Minute)
		defer cancel()
		if d.WaitForSync(limited) {
			t.Error("it did not wait")
		}
		isForbidden.Store(false)
		if !d.WaitForSync(ctx) || !d.HasSynced() {
			t.Error("it has not synced")
		}
	})
}

func TestMonitorRunRecordsWhetherTheCacheFollows(t *testing.T) {
	var isForbidden atomic.Bool
	isForbidden.Store(true)
	testDependencies(t, &isForbidden, func(t *testing.T, ctx context.Context, factory informers.SharedInformerFactory, monitor *Monitor) {
		d := dependOn(t, factory, monitor, require)
		factory.StartWithContext(ctx)
		go monitor.Run(ctx)
		expect := func(when string, want float64) {
			t.Helper()
			got, err := testutil.GetGaugeMetricValue(cacheSynced.WithLabelValues("pods"))
			if err != nil || got != want {
				t.Errorf("%s: got %v, %v, want %v", when, got, err, want)
			}
		}
		time.Sleep(2 * syncTimeout)
		expect("while it is refused", 0)
		isForbidden.Store(false)
		if !d.WaitForSync(ctx) {
			t.Fatal("it does not sync")
		}
		time.Sleep(2 * checkPeriod)
		expect("when it is allowed again", 1)
	})
}

// The cache of a resource that the cluster does not serve is empty and has synced, and follows nothing.
func TestMonitorRecordsNothingOfAResourceThatIsNotServed(t *testing.T) {
	routes := schema.GroupResource{Group: "gateway.networking.k8s.io", Resource: "httproutes"}
	synced, served := true, true
	monitor := NewMonitor()
	monitor.caches = []*sharedCache{{
		resource:  routes,
		version:   func() string { return "" },
		hasSynced: func() bool { return synced },
		isServed:  func() bool { return served },
	}}
	for _, row := range []struct {
		name           string
		synced, served bool
		want           []string
	}{
		{"served", true, true, []string{"1"}},
		{"no longer served", true, false, nil},
		{"not known to be served, as when a permission is missing", false, false, []string{"0"}},
	} {
		synced, served = row.synced, row.served
		monitor.check(klog.Background())
		var got []string
		families, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if family.GetName() == "modelbox_controller_cache_synced" && metric.GetLabel()[0].GetValue() == "httproutes.gateway.networking.k8s.io" {
					got = append(got, strconv.Itoa(int(metric.GetGauge().GetValue())))
				}
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", row.name, diff)
		}
	}
}
