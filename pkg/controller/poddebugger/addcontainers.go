// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/ephemeralcontainer"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	poddebuggerrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/poddebugger"
)

// component is what grants the right that the server needs for this controller alone.
const component = "artifacts/components/pod-debugger"

// addContainers adds the container to the chosen pods one after the other, and moves them to the pods that have it. It returns
// after how long to requeue, 0 for not at all. Refusals of the cluster are in found then, and are no error.
func (c *Controller) addContainers(ctx context.Context, debugger *modelv1.PodDebugger, found *survey, pods *podCache) (time.Duration, error) {
	key := apply.KeyOf(debugger)
	isChosen := map[types.UID]bool{}
	for _, pod := range found.chosen {
		isChosen[pod.UID] = true
	}
	c.refusals.retain(key, isChosen)

	var waiting []*corev1.Pod
	forbidden, retry, isForbidden := c.refusals.of(key, everyPod)
	if isForbidden && retry > 0 {
		found.forbidden = forbidden.message
	}
	for _, pod := range found.chosen {
		last, delay, wasRefused := c.refusals.of(key, pod.UID)
		if delay > 0 || found.forbidden != "" {
			if wasRefused {
				found.refused[pod.UID] = last
			}
			waiting = append(waiting, pod)
			retry = reconciler.Soonest(retry, delay)
			continue
		}
		added, err := c.addContainer(ctx, debugger, pod)
		switch {
		case err == nil:
			pods.consistency.WroteAt(key, debugger.UID, podResource, added.ResourceVersion)
			c.Metrics.ChildWritten("EphemeralContainer", "create")
			c.podEvent(pod, debugger, corev1.EventTypeNormal, "EphemeralContainerAdded", fmt.Sprintf("PodDebugger %s added the ephemeral container %s", debugger.Name, found.containerName))
			found.debugged = append(found.debugged, pod)
			continue
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			// The pod is gone, or it is another one of the name: the cache is about to say so.
			retry = reconciler.Soonest(retry, time.Second)
		case ctx.Err() != nil, errors.Is(err, leaderelection.ErrNotLeading):
			return 0, err
		case apierrors.IsForbidden(err) && !c.mayAddContainers(ctx, debugger.Namespace):
			next := c.refusals.refused(key, everyPod, modelv1.ReasonForbidden, fmt.Sprintf("%v: %s lets the server add ephemeral containers", err, component))
			found.forbidden = next.message
			retry = reconciler.Soonest(retry, next.delay)
		default:
			next := c.refusals.refused(key, pod.UID, children.Classify(err).Reason, err.Error())
			found.refused[pod.UID] = next
			retry = reconciler.Soonest(retry, next.delay)
			if !wasRefused && !isToldAlready(debugger, pod, next.message) || wasRefused && last.message != next.message {
				c.podEvent(pod, debugger, corev1.EventTypeWarning, "EphemeralContainerRefused", fmt.Sprintf("PodDebugger %s cannot add an ephemeral container: %s", debugger.Name, next.message))
			}
		}
		waiting = append(waiting, pod)
	}
	found.chosen = waiting
	return retry, nil
}

// addContainer gives the pod the container. Where the cache did not have it yet that the pod has it already, nothing changes.
func (c *Controller) addContainer(ctx context.Context, debugger *modelv1.PodDebugger, pod *corev1.Pod) (*corev1.Pod, error) {
	container, err := poddebuggerrender.Container(debugger, pod)
	if err != nil {
		return nil, fmt.Errorf("rendering the container: %w", err)
	}
	return timeout.Request(ctx, func(ctx context.Context) (*corev1.Pod, error) {
		return ephemeralcontainer.Add(ctx, c.kubeClient.CoreV1(), pod, container, metav1.PatchOptions{FieldManager: render.FieldManager})
	})
}

// mayAddContainers returns whether the server may add ephemeral containers in the namespace. It returns true if the cluster does
// not answer. The status then has the refusal for each pod.
func (c *Controller) mayAddContainers(ctx context.Context, namespace string) bool {
	review, err := timeout.Request(ctx, func(ctx context.Context) (*authorizationv1.SelfSubjectAccessReview, error) {
		return c.kubeClient.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: "patch", Version: "v1", Resource: "pods", Subresource: ephemeralcontainer.Subresource,
			}},
		}, metav1.CreateOptions{})
	})
	return err != nil || review.Status.Allowed
}

// isToldAlready returns whether the status says so of the pod, since before this process.
func isToldAlready(debugger *modelv1.PodDebugger, pod *corev1.Pod, refusal string) bool {
	for i := range debugger.Status.Pods {
		if known := &debugger.Status.Pods[i]; known.UID == pod.UID {
			return known.Refusal == refusal
		}
	}
	return false
}
