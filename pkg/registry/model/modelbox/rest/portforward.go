// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// newPortForwardOptions, with parsePortForward, makes a ConnectREST the subresource portforward: connections to ports of a pod.
func newPortForwardOptions() runtime.Object { return &model.ModelBoxPortForwardOptions{} }

func parsePortForward(options runtime.Object) (connection, error) {
	forward, ok := options.(*model.ModelBoxPortForwardOptions)
	if !ok {
		return connection{}, apierrors.NewBadRequest(fmt.Sprintf("expected ModelBoxPortForwardOptions, got %T", options))
	}
	for _, port := range forward.Ports {
		for _, problem := range validation.IsValidPortNum(int(port)) {
			return connection{}, apierrors.NewBadRequest(fmt.Sprintf("ports: %d: %s", port, problem))
		}
	}
	return connection{
		pod:        forward.Pod,
		podOptions: func(string) runtime.Object { return &corev1.PodPortForwardOptions{Ports: forward.Ports} },
	}, nil
}
