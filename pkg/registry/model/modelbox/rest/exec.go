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

// newExecOptions, with parseExec, makes a ConnectREST the subresource exec: a command that is run in a container.
func newExecOptions() runtime.Object { return &model.ModelBoxExecOptions{} }

func parseExec(options runtime.Object) (connection, error) {
	exec, ok := options.(*model.ModelBoxExecOptions)
	if !ok {
		return connection{}, apierrors.NewBadRequest(fmt.Sprintf("expected ModelBoxExecOptions, got %T", options))
	}
	if len(exec.Command) == 0 || exec.Command[0] == "" {
		return connection{}, apierrors.NewBadRequest("command: you must specify the command to execute, as command=PROGRAM&command=ARGUMENT")
	}
	if err := requireStream(exec.Stdin, exec.Stdout, exec.Stderr); err != nil {
		return connection{}, err
	}
	return connection{
		pod: exec.Pod, container: exec.Container, toContainer: true,
		podOptions: func(container string) runtime.Object {
			return &corev1.PodExecOptions{
				Container: container, Command: exec.Command,
				Stdin: exec.Stdin, Stdout: exec.Stdout, Stderr: exec.Stderr && !exec.TTY, TTY: exec.TTY,
			}
		},
	}, nil
}

// requireStream returns 400 unless there is one of the streams.
func requireStream(stdin, stdout, stderr bool) error {
	if stdin || stdout || stderr {
		return nil
	}
	return apierrors.NewBadRequest("you must specify at least one of stdin, stdout, stderr, as stdout=true")
}
