// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

const (
	storageEventsHook = "modelbox-storage-events"
	// storageEventsPeriod is how often the server checks whether it has something to report.
	storageEventsPeriod = 5 * time.Second
)

// addStorageEvents makes the server record an event about its namespace when it refuses new and larger boxes because of a shortage
// of space, and when it accepts them again. It does nothing for an external etcd, for which etcd is nil.
func addStorageEvents(ctx context.Context, server *genericapiserver.GenericAPIServer, config *apiserver.Config, etcd *embeddedetcd.Server, namespace string) error {
	if etcd == nil {
		return nil
	}
	client, err := kubernetes.NewForConfig(clientConfig(config.GenericConfig.ClientConfig))
	if err != nil {
		return fmt.Errorf("creating the client for events about the storage: %w", err)
	}
	events := &storageEvents{client: client, namespace: namespace, shortage: etcd.Shortage}
	return server.AddPostStartHook(storageEventsHook, func(hook genericapiserver.PostStartHookContext) error {
		go wait.UntilWithContext(klog.NewContext(hook, klog.FromContext(ctx)), events.report, storageEventsPeriod)
		return nil
	})
}

// storageEvents records events about shortages of space. It has the last recorded state.
type storageEvents struct {
	client    kubernetes.Interface
	namespace string
	shortage  func() *embeddedetcd.Shortage
	reported  embeddedetcd.Reason
}

// report records an event if the state has changed. After an error, the next call retries.
func (e *storageEvents) report(ctx context.Context) {
	eventType, reason, message := corev1.EventTypeNormal, "StorageAvailable", "the storage accepts new boxes again"
	var current embeddedetcd.Reason
	if shortage := e.shortage(); shortage != nil {
		current = shortage.Reason
		eventType, reason, message = corev1.EventTypeWarning, string(shortage.Reason), "boxes may not grow: "+shortage.Message
	}
	if current == e.reported {
		return
	}
	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{GenerateName: "modelbox-storage-", Namespace: e.namespace},
		EventTime:           metav1.NowMicro(),
		ReportingController: render.EventReporter,
		ReportingInstance:   render.EventReporter,
		Action:              "Storing",
		Reason:              reason,
		Type:                eventType,
		Regarding:           corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: e.namespace, Namespace: e.namespace},
		Note:                message,
	}
	if _, err := e.client.EventsV1().Events(e.namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		klog.FromContext(ctx).V(2).Info("Writing an event about the storage failed", "namespace", e.namespace, "err", err)
		return
	}
	e.reported = current
}
