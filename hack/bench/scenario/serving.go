// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// census is the pods of an application at one moment, by their image.
type census struct {
	// pods is how many exist, and ready how many are ready endpoints of the Service.
	pods, ready map[string]int
}

func (c *census) allReady() int {
	total := 0
	for _, count := range c.ready {
		total += count
	}
	return total
}

// isOnly returns whether the image has so many pods, all of which are ready endpoints, and no other image has any.
func (c *census) isOnly(image string, pods int) bool {
	return c.pods[image] == pods && len(c.pods) == 1 && c.ready[image] == pods && len(c.ready) == 1
}

// disruption is what a release does to an application until only the pods of one image are left.
type disruption struct {
	image string
	pods  int
	began time.Time
	// fewest is the smallest number of ready endpoints.
	fewest int
	// short is the time with fewer ready endpoints than pods, without the time since shortSince, if that is set.
	short      time.Duration
	shortSince time.Time
	// isDisturbed says that there was something else than the pods of the image. over is since when there is nothing else again.
	isDisturbed bool
	over        time.Time
}

func newDisruption(image string, pods int, began time.Time) *disruption {
	return &disruption{image: image, pods: pods, began: began, fewest: pods}
}

// observe is called with the objects from then on.
func (d *disruption) observe(at time.Time, now census) {
	ready := now.allReady()
	d.fewest = min(d.fewest, ready)
	switch isShort := ready < d.pods; {
	case isShort && d.shortSince.IsZero():
		d.shortSince = at
	case !isShort && !d.shortSince.IsZero():
		d.short, d.shortSince = d.short+at.Sub(d.shortSince), time.Time{}
	}
	switch isOnly := now.isOnly(d.image, d.pods); {
	case !isOnly:
		d.isDisturbed, d.over = true, time.Time{}
	case d.isDisturbed && d.over.IsZero():
		d.over = at
	}
}

// isOver returns whether the release has changed something, and only the pods of the image are left.
func (d *disruption) isOver() bool { return !d.over.IsZero() }

// application is one whose pods and endpoints are watched.
type application struct {
	// images are the images of all pods that ever existed, and pods are the pods that exist.
	images map[string]string
	pods   map[string]*corev1.Pod
	// ready are the pods that each EndpointSlice has as ready endpoints.
	ready map[string][]string

	disruption *disruption
	// before is how many pods there were before the disruption.
	before int
}

func (a *application) census() census {
	c := census{map[string]int{}, map[string]int{}}
	for name := range a.pods {
		c.pods[a.images[name]]++
	}
	for _, names := range a.ready {
		for _, name := range names {
			c.ready[a.images[name]]++
		}
	}
	return c
}

// serving watches how applications of some namespaces are served.
type serving struct {
	mu           sync.Mutex
	applications map[types.NamespacedName]*application
	failed       error
}

// watchServing watches the pods and the endpoints of applications until ctx is done.
func watchServing(ctx context.Context, bed *testbed.Testbed, stored []*modelv1.ModelBox) (*serving, error) {
	client, err := bed.UserClient()
	if err != nil {
		return nil, err
	}
	s := &serving{applications: map[types.NamespacedName]*application{}}
	for _, box := range stored {
		s.applications[types.NamespacedName{Namespace: box.Namespace, Name: box.Name}] = &application{
			images: map[string]string{}, pods: map[string]*corev1.Pod{}, ready: map[string][]string{},
		}
	}
	begin := func(resourceVersion string, watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error)) (<-chan watch.Event, error) {
		watched, err := watchtools.NewRetryWatcherWithContext(ctx, resourceVersion, &cache.ListWatch{WatchFuncWithContext: watchFunc})
		if err != nil {
			return nil, fmt.Errorf("watching how applications are served: %w", err)
		}
		return watched.ResultChan(), nil
	}
	// The applications do not exist yet: only the resource versions of these lists matter.
	none := metav1.ListOptions{Limit: 1}
	ofPods, ofSlices := client.CoreV1().Pods(metav1.NamespaceAll), client.DiscoveryV1().EndpointSlices(metav1.NamespaceAll)
	podList, err := ofPods.List(ctx, none)
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	sliceList, err := ofSlices.List(ctx, none)
	if err != nil {
		return nil, fmt.Errorf("listing EndpointSlices: %w", err)
	}
	pods, err := begin(podList.ResourceVersion, ofPods.Watch)
	if err != nil {
		return nil, err
	}
	slices, err := begin(sliceList.ResourceVersion, ofSlices.Watch)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			var event watch.Event
			var isOpen bool
			select {
			case event, isOpen = <-pods:
			case event, isOpen = <-slices:
			}
			if !isOpen {
				return
			}
			s.handle(time.Now(), event)
		}
	}()
	return s, nil
}

// handle takes an event in.
func (s *serving) handle(at time.Time, event watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed *application
	switch object := event.Object.(type) {
	case *corev1.Pod:
		changed = s.applications[types.NamespacedName{Namespace: object.Namespace, Name: object.Labels[modelv1.SelectorLabel]}]
		switch {
		case changed == nil:
		case event.Type == watch.Deleted:
			delete(changed.pods, object.Name)
		default:
			changed.pods[object.Name], changed.images[object.Name] = object, object.Spec.Containers[0].Image
		}
	case *discoveryv1.EndpointSlice:
		changed = s.applications[types.NamespacedName{Namespace: object.Namespace, Name: object.Labels[discoveryv1.LabelServiceName]}]
		switch {
		case changed == nil:
		case event.Type == watch.Deleted:
			delete(changed.ready, object.Name)
		default:
			changed.ready[object.Name] = readyPods(object)
		}
	default:
		s.failed = fmt.Errorf("watching how applications are served: %s %v", event.Type, event.Object)
	}
	if changed != nil && changed.disruption != nil {
		changed.disruption.observe(at, changed.census())
	}
}

// readyPods returns the names of the pods that are ready endpoints.
func readyPods(slice *discoveryv1.EndpointSlice) []string {
	var names []string
	for i := range slice.Endpoints {
		endpoint := &slice.Endpoints[i]
		if endpoint.TargetRef != nil && ptr.Deref(endpoint.Conditions.Ready, true) {
			names = append(names, endpoint.TargetRef.Name)
		}
	}
	return names
}

// disrupt begins to observe a release of an application until only the pods of the image are left.
func (s *serving) disrupt(key types.NamespacedName, image string, pods int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, now := s.applications[key], time.Now()
	a.disruption, a.before = newDisruption(image, pods, now), len(a.images)
	a.disruption.observe(now, a.census())
}

// outcome is what a release has done to an application.
type outcome struct {
	// took is until only the pods of the wanted image were left, short is for how long there were fewer ready endpoints than pods.
	took, short time.Duration
	// fewest is the smallest number of ready endpoints, and started how many pods were created.
	fewest, started int
}

// outcome returns what a release that is over has done to an application.
func (s *serving) outcome(key types.NamespacedName) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.applications[key]
	return outcome{a.disruption.over.Sub(a.disruption.began), a.disruption.short, a.disruption.fewest, len(a.images) - a.before}
}

// await waits until something is true of all applications.
func (s *serving) await(ctx context.Context, what string, isTrue func(*application) bool) error {
	waiting := ""
	err := wait.PollUntilContextTimeout(ctx, pollInterval, readyTimeout, true, func(context.Context) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		waiting = ""
		for key, a := range s.applications {
			if !isTrue(a) {
				waiting = fmt.Sprintf("%s has %+v", key, a.census())
			}
		}
		return waiting == "", s.failed
	})
	if err != nil {
		return fmt.Errorf("waiting until all applications %s: %s: %w", what, waiting, err)
	}
	return nil
}

// podsOf returns the pods of the applications of which something is true.
func (s *serving) podsOf(isTrue func(*corev1.Pod) bool) map[types.NamespacedName][]*corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[types.NamespacedName][]*corev1.Pod{}
	for key, a := range s.applications {
		for _, pod := range a.pods {
			if isTrue(pod) {
				found[key] = append(found[key], pod)
			}
		}
	}
	return found
}
