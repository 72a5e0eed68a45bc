// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostclients

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// recorderHook is what writes the events of requests.
const recorderHook = "modelbox-request-events"

// NewRecorder returns what records events about boxes for the requests that this server answers, whether it leads or not. They
// are written as long as the server runs.
func NewRecorder(config *genericapiserver.RecommendedConfig) (events.EventRecorder, error) {
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "request-events"))
	if err != nil {
		return nil, fmt.Errorf("creating the client for events of requests: %w", err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	recorder := broadcaster.NewRecorder(apiserver.Scheme, render.EventReporter)
	return recorder, config.AddPostStartHook(recorderHook, func(hook genericapiserver.PostStartHookContext) error {
		if err := broadcaster.StartRecordingToSinkWithContext(hook); err != nil {
			return fmt.Errorf("starting to record events: %w", err)
		}
		go func() {
			<-hook.Done()
			broadcaster.Shutdown()
		}()
		return nil
	})
}
