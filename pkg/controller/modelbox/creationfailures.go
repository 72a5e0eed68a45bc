// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// boxOfWorkloadEvent returns the box whose workload the event is about. It is false for all others of the cluster.
func (c *Controller) boxOfWorkloadEvent(object metav1.Object) (types.NamespacedName, bool) {
	event, ok := object.(*eventsv1.Event)
	if !ok {
		return types.NamespacedName{}, false
	}
	for _, kind := range c.kinds {
		if kind.GroupVersionKind.Kind != event.Regarding.Kind {
			continue
		}
		workload, exists, err := kind.Informer.GetIndexer().GetByKey(event.Regarding.Namespace + "/" + event.Regarding.Name)
		if err != nil || !exists {
			return types.NamespacedName{}, false
		}
		return c.children.OwnerOf(workload.(children.Object))
	}
	return types.NamespacedName{}, false
}

// creationFailure returns why pods of the workload are not even created, nil when they are. Where its status does not
// tell, that is the last that was said about it while it lacks pods: what was said before the newest pod was created is
// over.
func (c *Controller) creationFailure(workload kinds.Workload, pods []*corev1.Pod) (*status.PodFailure, error) {
	if workload == nil {
		return nil, nil
	}
	if failure := workload.CreationFailure(); failure != nil {
		return &status.PodFailure{Reason: failure.Reason, Message: failure.Message}, nil
	}
	if replicas := workload.Replicas(); replicas.Current >= replicas.Desired {
		return nil, nil
	}
	last, err := lastEventAbout(c.creationEvents, workload)
	if err != nil || last == nil {
		return nil, err
	}
	for _, pod := range pods {
		if lastSeen(last).Before(pod.CreationTimestamp.Time) {
			return nil, nil
		}
	}
	return &status.PodFailure{Reason: informers.FailedCreate, Message: last.Note}, nil
}
