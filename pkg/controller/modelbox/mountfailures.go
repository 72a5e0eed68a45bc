// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// failedMount is the reason of the event that a kubelet records when a pod cannot have one of its volumes, such as a
// ConfigMap that there is not. The pod itself only says that it is being created.
const failedMount = "FailedMount"

// byPod indexes events by the UID of the pod that they are about.
const byPod = "pod"

// newMountFailureFactory returns a factory whose informer of events sees failed mounts of pods and no others: the API
// server leaves out the rest, so that this costs next to nothing however many pods there are. To list a pod's events
// while it is being created would cost a read of all events of its namespace for every pod that starts.
func newMountFailureFactory(cluster kubernetes.Interface) informers.SharedInformerFactory {
	failedMounts := fields.AndSelectors(
		fields.OneTermEqualSelector("regarding.kind", "Pod"),
		fields.OneTermEqualSelector("type", corev1.EventTypeWarning),
		fields.OneTermEqualSelector("reason", failedMount))
	return informers.NewSharedInformerFactoryWithOptions(cluster, 0,
		informers.WithTransform(trimForCache),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = failedMounts.String()
		}))
}

// watchMountFailures reconciles the box of a pod that cannot have a volume. The controller does not wait for these
// events: a cluster that does not let it read them loses a message, and nothing else.
func (c *Controller) watchMountFailures(events cache.SharedIndexInformer) error {
	if err := events.AddIndexers(cache.Indexers{byPod: regardingUIDs}); err != nil {
		return fmt.Errorf("indexing events: %w", err)
	}
	registration, err := events.AddEventHandler(c.enqueueOwners(c.boxOfEvent))
	if err != nil {
		return fmt.Errorf("watching events: %w", err)
	}
	return c.watchHealth(eventsv1.Resource("events"), optional, events, registration.HasSynced)
}

func regardingUIDs(obj any) ([]string, error) {
	event, ok := obj.(*eventsv1.Event)
	if !ok {
		return nil, fmt.Errorf("expected an Event, got %T", obj)
	}
	return []string{string(event.Regarding.UID)}, nil
}

// boxOfEvent returns the box whose pod the event is about. It is false for all other pods of the cluster.
func (c *Controller) boxOfEvent(object metav1.Object) (types.NamespacedName, bool) {
	event, ok := object.(*eventsv1.Event)
	if !ok {
		return types.NamespacedName{}, false
	}
	pod, exists, err := c.pods.GetByKey(event.Regarding.Namespace + "/" + event.Regarding.Name)
	if err != nil || !exists {
		return types.NamespacedName{}, false
	}
	return podBoxKey(pod.(*corev1.Pod))
}

// mountFailures returns the last that was said about volumes of those of the pods that still wait for theirs.
func (c *Controller) mountFailures(pods []*corev1.Pod) (map[types.UID]string, error) {
	failures := map[types.UID]string{}
	for _, pod := range pods {
		if !waitsForVolumes(pod) {
			continue
		}
		events, err := c.mounts.ByIndex(byPod, string(pod.UID))
		if err != nil {
			return nil, fmt.Errorf("looking up the events about pod %s: %w", pod.Name, err)
		}
		var last time.Time
		for _, object := range events {
			event := object.(*eventsv1.Event)
			if at := lastSeen(event); failures[pod.UID] == "" || at.After(last) {
				failures[pod.UID], last = event.Note, at
			}
		}
	}
	return failures, nil
}

// waitsForVolumes returns whether the pod may still be without its volumes. They come before its sandbox: once it has
// that, what was said about them is over.
func waitsForVolumes(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReadyToStartContainers && condition.Status == corev1.ConditionTrue {
			return false
		}
	}
	return pod.Status.Phase == corev1.PodPending
}

// lastSeen returns when it last happened what the event is about. Kubelets write events of the older kind.
func lastSeen(event *eventsv1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.DeprecatedLastTimestamp.IsZero():
		return event.DeprecatedLastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}

// trimEvent keeps what was said about which object, and when.
func trimEvent(event *eventsv1.Event) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:            event.Name,
			Namespace:       event.Namespace,
			UID:             event.UID,
			ResourceVersion: event.ResourceVersion,
		},
		Regarding: corev1.ObjectReference{
			Namespace: event.Regarding.Namespace,
			Name:      event.Regarding.Name,
			UID:       event.Regarding.UID,
		},
		Note:                    event.Note,
		EventTime:               event.EventTime,
		Series:                  event.Series,
		DeprecatedLastTimestamp: event.DeprecatedLastTimestamp,
	}
}
