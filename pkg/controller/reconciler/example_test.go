// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

var (
	networkResource = modelv1.Resource("networks")
	boxResource     = modelv1.Resource("modelboxes")

	processMetrics = reconciler.ProcessMetrics("network", "network", "networks")
)

// Controller lists in the status of each Network the boxes that join it.
type Controller struct {
	*reconciler.For[*modelv1.Network, modelv1.NetworkStatus]
	boxes modellisters.ModelBoxLister
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	ModelClient versioned.Interface
	Networks    modelinformers.NetworkInformer
	Boxes       modelinformers.ModelBoxInformer
	CacheHealth *cachehealth.Monitor
	Recorder    events.EventRecorder
	Clock       clock.PassiveClock
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{boxes: p.Boxes.Lister()}
	c.For = reconciler.New(reconciler.Config[*modelv1.Network, modelv1.NetworkStatus]{
		Controller:      "network",
		Noun:            "network",
		Resource:        networkResource,
		ConcurrentSyncs: 4,
		CacheHealth:     p.CacheHealth,
		Consistency: consistency.NewStore(p.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{
			networkResource: p.Networks.Informer().GetStore(),
		}),
		Metrics:  processMetrics(),
		Recorder: p.Recorder,
		Clock:    p.Clock,
		Get: func(namespace, name string) (*modelv1.Network, error) {
			return p.Networks.Lister().Networks(namespace).Get(name)
		},
		Client: func(namespace string) reconciler.Client[*modelv1.Network] {
			return p.ModelClient.ModelV1().Networks(namespace)
		},
		Status: &reconciler.Status[*modelv1.Network, modelv1.NetworkStatus]{
			List: p.Networks.Lister().List,
			Of:   func(network *modelv1.Network) *modelv1.NetworkStatus { return &network.Status },
			Parts: func(status *modelv1.NetworkStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: func(_, _ *modelv1.NetworkStatus) bool { return false },
			Written:        func(*modelv1.Network, *modelv1.NetworkStatus) {},
			NotReadyReason: modelv1.ReasonError,
		},
		Reconcile: c.reconcile,
	})
	if err := c.Watch(networkResource, c.Caches.AddRequired, p.Networks.Informer(), c.Queue.Handler(reconciler.Key)); err != nil {
		return nil, err
	}
	return c, c.Watch(boxResource, c.Caches.AddRequired, p.Boxes.Informer(), c.Queue.HandlerOfAll(networksOf))
}

// networksOf returns the keys of the networks that a box joins.
func networksOf(object metav1.Object) []types.NamespacedName {
	box, ok := object.(*modelv1.ModelBox)
	if !ok {
		return nil
	}
	var keys []types.NamespacedName
	for _, name := range box.Spec.Networks {
		keys = append(keys, types.NamespacedName{Namespace: box.Namespace, Name: name})
	}
	return keys
}

// reconcile writes the status of one network.
func (c *Controller) reconcile(ctx context.Context, network *modelv1.Network) (time.Duration, error) {
	boxes, err := c.boxes.ModelBoxes(network.Namespace).List(labels.Everything())
	if err != nil {
		return 0, fmt.Errorf("listing the boxes of the namespace: %w", err)
	}
	status := modelv1.NetworkStatus{
		ObservedGeneration: network.Generation,
		Conditions:         slices.Clone(network.Status.Conditions),
	}
	for _, box := range boxes {
		if slices.Contains(box.Spec.Networks, network.Name) {
			status.Boxes = append(status.Boxes, box.Name)
		}
	}
	slices.Sort(status.Boxes)
	reconciler.SetCondition(&status.Conditions, network.Generation, modelv1.ConditionReady, reconciler.Verdict{
		IsTrue: true, Reason: modelv1.ReasonReady, Message: fmt.Sprintf("%d boxes join the network", len(status.Boxes)),
	})
	return c.UpdateStatus(ctx, network, status)
}
