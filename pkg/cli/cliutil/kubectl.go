// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cliutil has the shared code of the commands of the plugin. It selects boxes and stacks by arguments and flags, completes
// their names, sums up their state, and adapts commands of kubectl to them.
package cliutil

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/scheme"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// RegisterTypes makes the commands in kubectl's packages work on boxes and stacks, in this process. It may be called repeatedly.
//
// kubectl decodes objects with its own scheme, and port-forward with the scheme of client-go. It calls functions in variables for
// what depends on a kind.
var RegisterTypes = sync.OnceFunc(func() {
	utilruntime.Must(modelv1.AddToScheme(scheme.Scheme))
	utilruntime.Must(modelv1.AddToScheme(clientgoscheme.Scheme))
	polymorphichelpers.UpdatePodSpecForObjectFn = updatePodSpec(polymorphichelpers.UpdatePodSpecForObjectFn)
	polymorphichelpers.AttachablePodForObjectFn = attachablePod(polymorphichelpers.AttachablePodForObjectFn)
	polymorphichelpers.ObjectPauserFn = pauser
	polymorphichelpers.ObjectResumerFn = resumer
})

// encode returns an object as kubectl's commands expect it of their functions.
func encode(object runtime.Object) ([]byte, error) {
	return runtime.Encode(scheme.DefaultJSONEncoder(), object)
}
