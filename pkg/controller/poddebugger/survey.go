// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	poddebuggerrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/poddebugger"
)

// survey is what there is of a PodDebugger.
type survey struct {
	containerName string
	// selected is how many pods the selector selects.
	selected int
	// debugged have the container, and chosen are to get it; both the oldest first.
	debugged, chosen []*corev1.Pod
	// refused are the chosen pods whose container the cluster refused.
	refused map[types.UID]refusal
	// forbidden is why the server may not give the container to any pod. It is empty if the server may.
	forbidden string
	// isExpired is true if the time of the PodDebugger is over, and timeToLive is how long it is until then, 0 for forever.
	isExpired  bool
	timeToLive time.Duration
	// boxes are the names of the boxes that pods belong to, as boxesOf tells them.
	boxes map[types.UID]string
}

// survey finds the pods that have the container, and the pods that are to get it. It ignores pods that are being deleted, and
// static pods of a kubelet, which no API server can change.
func (c *Controller) survey(debugger *modelv1.PodDebugger, pods []*corev1.Pod) (*survey, error) {
	selector, err := metav1.LabelSelectorAsSelector(&debugger.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector: %w", err)
	}
	found := &survey{containerName: poddebuggerrender.ContainerName(debugger), refused: map[types.UID]refusal{}}
	for _, pod := range pods {
		if _, isMirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; isMirror || pod.DeletionTimestamp != nil {
			continue
		}
		isSelected := selector.Matches(labels.Set(pod.Labels))
		if isSelected {
			found.selected++
		}
		switch {
		case hasContainer(pod, found.containerName):
			found.debugged = append(found.debugged, pod)
		case isSelected:
			found.chosen = append(found.chosen, pod)
		}
	}
	slices.SortFunc(found.debugged, byAge)
	slices.SortFunc(found.chosen, byAge)
	if seconds := debugger.Spec.TTLSecondsAfterCreation; seconds != nil {
		end := debugger.CreationTimestamp.Add(time.Duration(*seconds) * time.Second)
		found.timeToLive = max(0, end.Sub(c.Clock.Now()))
		found.isExpired = found.timeToLive == 0
	}
	room := max(0, int(ptr.Deref(debugger.Spec.MaxPods, modelv1.DefaultPodDebuggerMaxPods))-len(found.debugged))
	if found.isExpired {
		room = 0
	}
	found.chosen = found.chosen[:min(room, len(found.chosen))]
	return found, nil
}

// byAge has the oldest pod first.
func byAge(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}
