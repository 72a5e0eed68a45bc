// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestDisruption(t *testing.T) {
	type counts = map[string]int
	// moment is what there is from so many seconds on.
	type moment struct {
		at          int
		pods, ready counts
	}
	for _, row := range []struct {
		name    string
		moments []moment
		// wantOver is -1 where it is not.
		wantOver, wantFewest, wantShort int
	}{
		{"nothing happens", []moment{{0, counts{"old": 4}, counts{"old": 4}}}, -1, 4, 0},
		{"a bad pod comes and goes", []moment{
			{0, counts{"old": 4}, counts{"old": 4}},
			{1, counts{"old": 4, "bad": 1}, counts{"old": 4}},
			{9, counts{"old": 4}, counts{"old": 4}},
		}, 9, 4, 0},
		{"a bad pod takes the place of a stable one", []moment{
			{0, counts{"old": 4}, counts{"old": 4}},
			{1, counts{"old": 3, "bad": 1}, counts{"old": 3}},
			{7, counts{"old": 4}, counts{"old": 3}},
			{9, counts{"old": 4}, counts{"old": 4}},
		}, 9, 3, 8},
		{"there is too little twice", []moment{
			{0, counts{"old": 3, "new": 1}, counts{"old": 3}},
			{2, counts{"old": 3, "new": 1}, counts{"old": 3, "new": 1}},
			{5, counts{"old": 2, "new": 2}, counts{"old": 1, "new": 1}},
			{6, counts{"old": 4}, counts{"old": 4}},
		}, 6, 2, 3},
		{"a pod stays in the end", []moment{
			{0, counts{"old": 4}, counts{"old": 4}},
			{1, counts{"old": 4, "bad": 1}, counts{"old": 4}},
			{5, counts{"old": 4}, counts{"old": 4}},
			{6, counts{"old": 4, "bad": 1}, counts{"old": 4}},
		}, -1, 4, 0},
		{"one pod too many is not the end", []moment{
			{0, counts{"old": 4, "bad": 1}, counts{"old": 4}},
			{3, counts{"old": 5}, counts{"old": 5}},
			{4, counts{"old": 4}, counts{"old": 4}},
		}, 4, 4, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			began := time.Unix(1000, 0)
			d := newDisruption("old", 4, began)
			for _, moment := range row.moments {
				d.observe(began.Add(time.Duration(moment.at)*time.Second), census{moment.pods, moment.ready})
			}
			over := -1
			if d.isOver() {
				over = int(d.over.Sub(began).Seconds())
			}
			got, want := [3]int{over, d.fewest, int(d.short.Seconds())}, [3]int{row.wantOver, row.wantFewest, row.wantShort}
			if got != want {
				t.Errorf("over, fewest and short are %v, want %v", got, want)
			}
		})
	}
}

func TestServingCountsPodsAndEndpoints(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "web"}
	s := &serving{applications: map[types.NamespacedName]*application{
		key: {images: map[string]string{}, pods: map[string]*corev1.Pod{}, ready: map[string][]string{}},
	}}
	pod := func(application, name, image string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{modelv1.SelectorLabel: application}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: image}}},
		}
	}
	endpoint := func(pod string, ready *bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{TargetRef: &corev1.ObjectReference{Name: pod}, Conditions: discoveryv1.EndpointConditions{Ready: ready}}
	}
	slice := func(endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
			Endpoints:  endpoints,
		}
	}
	began := time.Unix(1000, 0)
	for _, event := range []watch.Event{
		{Type: watch.Added, Object: pod("web", "web-a", "old")},
		{Type: watch.Added, Object: pod("other", "other-a", "old")},
		{Type: watch.Added, Object: slice(endpoint("web-a", ptr.To(true)))},
	} {
		s.handle(began, event)
	}
	s.disrupt(key, "old", 1)
	for _, event := range []watch.Event{
		{Type: watch.Added, Object: pod("web", "web-b", "new")},
		{Type: watch.Modified, Object: slice(endpoint("web-a", ptr.To(true)), endpoint("web-b", nil))},
		{Type: watch.Modified, Object: slice(endpoint("web-a", ptr.To(false)), endpoint("web-b", ptr.To(true)))},
	} {
		s.handle(began, event)
	}
	want := census{pods: map[string]int{"old": 1, "new": 1}, ready: map[string]int{"new": 1}}
	if diff := cmp.Diff(want, s.applications[key].census(), cmp.AllowUnexported(census{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, event := range []watch.Event{
		{Type: watch.Modified, Object: slice(endpoint("web-a", ptr.To(true)))},
		{Type: watch.Deleted, Object: pod("web", "web-b", "new")},
	} {
		s.handle(began, event)
	}
	if got := s.outcome(key); got.started != 1 || got.fewest != 1 || !s.applications[key].disruption.isOver() {
		t.Errorf("got %+v", got)
	}
	s.handle(began, watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "too old"}})
	if s.failed == nil {
		t.Error("the end of a watch is no failure")
	}
}
