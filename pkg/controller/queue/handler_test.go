// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// labelled returns an object of the item that its label names, of none where it is empty.
func labelled(version, item string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", ResourceVersion: version}}
	if item != "" {
		pod.Labels = map[string]string{"item": item}
	}
	return pod
}

func itemOf(object metav1.Object) (types.NamespacedName, bool) {
	name, ok := object.GetLabels()["item"]
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, ok
}

func TestHandlerOfAllAddsEachItem(t *testing.T) {
	q := New("test", math.MaxInt, clock.RealClock{})
	defer q.ShutDown()
	handler := q.HandlerOfAll(func(object metav1.Object) []types.NamespacedName {
		var items []types.NamespacedName
		for _, name := range object.GetFinalizers() {
			items = append(items, types.NamespacedName{Namespace: object.GetNamespace(), Name: name})
		}
		return items
	})
	of := func(version string, items ...string) *corev1.Pod {
		pod := labelled(version, "")
		pod.Finalizers = items
		return pod
	}
	handler.OnUpdate(of("1", "web", "db"), of("2", "db", "cache"))
	handler.OnAdd(of("1"), false)
	var got []string
	for q.Len() > 0 {
		got = append(got, q.next(t))
	}
	expect(t, "items as they leave", []string{"web", "db", "cache"}, got)
}

func TestPriorityOfWhatAnInformerReports(t *testing.T) {
	for _, row := range []struct {
		name  string
		event func(cache.ResourceEventHandler)
		// want are the items in the order in which they leave, beside another one that waits with low priority.
		want []string
	}{
		{"an object of the initial list has low priority", func(h cache.ResourceEventHandler) { h.OnAdd(labelled("1", "web"), true) }, []string{"other", "web"}},
		{"a new object has normal priority", func(h cache.ResourceEventHandler) { h.OnAdd(labelled("1", "web"), false) }, []string{"web", "other"}},
		{"a resync has low priority", func(h cache.ResourceEventHandler) { h.OnUpdate(labelled("1", "web"), labelled("1", "web")) }, []string{"other", "web"}},
		{"a change has normal priority", func(h cache.ResourceEventHandler) { h.OnUpdate(labelled("1", "web"), labelled("2", "web")) }, []string{"web", "other"}},
		{"a change of whose the object is concerns both", func(h cache.ResourceEventHandler) { h.OnUpdate(labelled("1", "web"), labelled("2", "db")) }, []string{"web", "db", "other"}},
		{"a deletion has normal priority", func(h cache.ResourceEventHandler) { h.OnDelete(labelled("2", "web")) }, []string{"web", "other"}},
		{"a deletion that the watch missed has normal priority", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/pod", Obj: labelled("1", "web")})
		}, []string{"web", "other"}},
		{"objects of no item are not added", func(h cache.ResourceEventHandler) {
			h.OnAdd(labelled("1", ""), false)
			h.OnUpdate(labelled("1", ""), labelled("1", ""))
			h.OnUpdate(labelled("1", ""), labelled("2", ""))
			h.OnDelete(labelled("2", ""))
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/pod"})
		}, []string{"other"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := New("test", math.MaxInt, clock.RealClock{})
			defer q.ShutDown()
			q.AddWithLowPriority(keyNamed("other"))
			row.event(q.Handler(itemOf))
			var got []string
			for q.Len() > 0 {
				got = append(got, q.next(t))
			}
			expect(t, "items as they leave", row.want, got)
		})
	}
}
