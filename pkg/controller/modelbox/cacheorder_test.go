// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// cached returns an indexer with ten objects that were created in the same second. Each read of an index has another order.
func cached(t *testing.T, index string, newObject func(metav1.ObjectMeta) metav1.Object) cache.Indexer {
	t.Helper()
	all := cache.IndexFunc(func(any) ([]string, error) { return []string{"shop/web", "uid"}, nil })
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{index: all})
	for i := range 10 {
		object := newObject(metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", i), UID: types.UID(fmt.Sprint(i)), CreationTimestamp: metav1.NewTime(time.Unix(1_800_000_000, 0))})
		if err := indexer.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return indexer
}

// A status that depends on the order of a cache would be written again and again.
func TestJobsOfACronJobHaveAnOrder(t *testing.T) {
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "cronjob"}}
	c := &Controller{
		jobs: cached(t, kinds.ByBox, func(meta metav1.ObjectMeta) metav1.Object {
			meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
			return &batchv1.Job{ObjectMeta: meta}
		}),
	}
	first := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "0"}}
	c.pods = cached(t, kinds.ByBox, func(meta metav1.ObjectMeta) metav1.Object {
		meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(first, batchv1.SchemeGroupVersion.WithKind("Job"))}
		return &corev1.Pod{ObjectMeta: meta}
	})
	workload, err := c.withJobs(kinds.CronJob{CronJob: cronJob})
	if err != nil {
		t.Fatal(err)
	}
	var jobs, pods []string
	for _, job := range workload.(kinds.CronJob).Jobs {
		jobs = append(jobs, job.Name)
	}
	for _, pod := range workload.(kinds.CronJob).Jobs[0].Pods {
		pods = append(pods, pod.Name)
	}
	for what, names := range map[string][]string{"Jobs": jobs, "pods": pods} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(names)), names); diff != "" || len(names) != 10 {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
}

func TestLastEventOfASecondIsAlwaysTheSame(t *testing.T) {
	events := cached(t, byRegarding, func(meta metav1.ObjectMeta) metav1.Object {
		return &eventsv1.Event{ObjectMeta: meta, DeprecatedLastTimestamp: meta.CreationTimestamp}
	})
	for range 10 {
		last, err := lastEventAbout(events, &metav1.ObjectMeta{UID: "uid"})
		if err != nil {
			t.Fatal(err)
		}
		if last.Name != "web-9" {
			t.Fatalf("the last event is %s", last.Name)
		}
	}
}
