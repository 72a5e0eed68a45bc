// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// newAttachOptions, with parseAttach, makes a ConnectREST the subresource attach: the streams of what runs in a container.
func newAttachOptions() runtime.Object { return &model.ModelBoxAttachOptions{} }

func parseAttach(options runtime.Object) (connection, error) {
	attach, ok := options.(*model.ModelBoxAttachOptions)
	if !ok {
		return connection{}, apierrors.NewBadRequest(fmt.Sprintf("expected ModelBoxAttachOptions, got %T", options))
	}
	if err := requireStream(attach.Stdin, attach.Stdout, attach.Stderr); err != nil {
		return connection{}, err
	}
	return connection{
		pod: attach.Pod, container: attach.Container, toContainer: true,
		podOptions: func(container string) runtime.Object {
			return &corev1.PodAttachOptions{
				Container: container,
				Stdin:     attach.Stdin, Stdout: attach.Stdout, Stderr: attach.Stderr && !attach.TTY, TTY: attach.TTY,
			}
		},
	}, nil
}
