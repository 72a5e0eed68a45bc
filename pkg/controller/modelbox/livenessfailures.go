// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// livenessAnswers are what kubelets have said about the liveness probes of the containers of a box that were restarted. They are lost
// with the process, and cost a request for each of them then.
type livenessAnswers map[status.ContainerID]livenessAnswer

// livenessAnswer is what was said about the probe after that many restarts, empty where nothing was.
type livenessAnswer struct {
	restarts int32
	note     string
}

// livenessFailures returns what the liveness probes of containers found that were restarted and have not recovered. A pod does
// not say why its kubelet has ended a container. An event does, which is asked for once after each restart: to watch the events
// of all probes of a cluster would cost more.
func (c *Controller) livenessFailures(ctx context.Context, box types.NamespacedName, workload kinds.Workload, pods []*corev1.Pod) map[status.ContainerID]string {
	if workload == nil {
		return nil
	}
	known, _ := c.liveness.Get(box)
	answers, failures := livenessAnswers{}, map[status.ContainerID]string{}
	for _, pod := range pods {
		for _, containerStatus := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if !hasLivenessProbe(workload.PodTemplate(), containerStatus.Name) || c.hasRecovered(&containerStatus) {
				continue
			}
			container := status.ContainerID{Pod: pod.UID, Name: containerStatus.Name}
			answer, isKnown := known[container]
			if !isKnown || answer.restarts != containerStatus.RestartCount {
				answer.restarts = containerStatus.RestartCount
				// A kubelet does not repeat all of its events: the last event holds until another one follows.
				if note := c.lastLivenessNote(ctx, pod, &containerStatus); note != "" {
					answer.note = note
				}
			}
			answers[container] = answer
			if answer.note != "" {
				failures[container] = answer.note
			}
		}
	}
	if len(answers) == 0 {
		c.liveness.Forget(box)
	} else {
		c.liveness.Set(box, answers)
	}
	return failures
}

func hasLivenessProbe(template *corev1.PodTemplateSpec, container string) bool {
	return slices.ContainsFunc(slices.Concat(template.Spec.InitContainers, template.Spec.Containers), func(c corev1.Container) bool {
		return c.Name == container && c.LivenessProbe != nil
	})
}

// hasRecovered returns whether a container was not restarted, or has recovered from its last restart.
func (c *Controller) hasRecovered(containerStatus *corev1.ContainerStatus) bool {
	running, last := containerStatus.State.Running, containerStatus.LastTerminationState.Terminated
	if last == nil {
		return true
	}
	return running != nil && containerStatus.Ready && (!status.IsCrashLooping(containerStatus) || c.Clock.Since(running.StartedAt.Time) >= status.TimeToSettle(last))
}

// lastLivenessNote returns what the kubelet of the pod said last about the liveness probe of the container, empty where it has
// said nothing since shortly before the container ran last, or cannot be asked.
func (c *Controller) lastLivenessNote(ctx context.Context, pod *corev1.Pod, containerStatus *corev1.ContainerStatus) string {
	selector := fields.AndSelectors(
		fields.OneTermEqualSelector("regarding.uid", string(pod.UID)),
		fields.OneTermEqualSelector("reason", "Unhealthy"))
	list, err := timeout.Request(ctx, func(ctx context.Context) (*eventsv1.EventList, error) {
		return c.kubeClient.EventsV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector.String()})
	})
	if err != nil {
		klog.FromContext(ctx).V(4).Info("Listing the events of a pod failed", "pod", klog.KObj(pod), "err", err)
		return ""
	}
	var last *eventsv1.Event
	for i := range list.Items {
		event := &list.Items[i]
		// The path is spec.containers{name} or spec.initContainers{name}.
		isAbout := event.Regarding.UID == pod.UID && strings.HasSuffix(event.Regarding.FieldPath, "{"+containerStatus.Name+"}")
		if isAbout && strings.HasPrefix(event.Note, "Liveness probe ") && (last == nil || lastSeen(event).After(lastSeen(last))) {
			last = event
		}
	}
	if last == nil || lastSeen(last).Before(containerStatus.LastTerminationState.Terminated.StartedAt.Add(-status.BackOffReset)) {
		return ""
	}
	return "its liveness probe " + strings.TrimPrefix(last.Note, "Liveness probe ")
}
