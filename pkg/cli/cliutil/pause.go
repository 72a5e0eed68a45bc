// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// pauser pauses a box or a stack, as "kubectl rollout pause" wants it done.
func pauser(object runtime.Object) ([]byte, error) {
	paused, err := pausedField(object)
	if err != nil {
		return nil, err
	}
	if *paused {
		return nil, errors.New("is already paused")
	}
	*paused = true
	return encode(object)
}

// resumer ends the pause of a box or a stack, as "kubectl rollout resume" wants it done.
func resumer(object runtime.Object) ([]byte, error) {
	paused, err := pausedField(object)
	if err != nil {
		return nil, err
	}
	if !*paused {
		return nil, errors.New("is not paused")
	}
	*paused = false
	return encode(object)
}

func pausedField(object runtime.Object) (*bool, error) {
	switch object := object.(type) {
	case *modelv1.ModelBox:
		return &object.Spec.Paused, nil
	case *modelv1.ModelStack:
		return &object.Spec.Paused, nil
	}
	return nil, fmt.Errorf("a %T is neither a box nor a stack", object)
}
