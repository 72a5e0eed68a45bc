// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package fuzzer fills ModelBoxes, ModelStacks, Networks and PodDebuggers with random values for tests.
package fuzzer

import (
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/randfill"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Funcs returns the functions that fill the internal types as they are once they are decoded: with every default in
// place. The other fields are random, and not valid.
func Funcs(runtimeserializer.CodecFactory) []any {
	return []any{
		func(box *model.ModelBox, c randfill.Continue) {
			c.FillNoCustom(box)
			served := &modelv1.ModelBox{}
			utilruntime.Must(modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, served, nil))
			modelv1.SetObjectDefaults_ModelBox(served)
			utilruntime.Must(modelv1.Convert_v1_ModelBox_To_model_ModelBox(served, box, nil))
		},
		func(stack *model.ModelStack, c randfill.Continue) {
			c.FillNoCustom(stack)
			served := &modelv1.ModelStack{}
			utilruntime.Must(modelv1.Convert_model_ModelStack_To_v1_ModelStack(stack, served, nil))
			modelv1.SetObjectDefaults_ModelStack(served)
			utilruntime.Must(modelv1.Convert_v1_ModelStack_To_model_ModelStack(served, stack, nil))
		},
		func(network *model.Network, c randfill.Continue) {
			c.FillNoCustom(network)
			served := &modelv1.Network{}
			utilruntime.Must(modelv1.Convert_model_Network_To_v1_Network(network, served, nil))
			modelv1.SetObjectDefaults_Network(served)
			utilruntime.Must(modelv1.Convert_v1_Network_To_model_Network(served, network, nil))
		},
		func(debugger *model.PodDebugger, c randfill.Continue) {
			c.FillNoCustom(debugger)
			served := &modelv1.PodDebugger{}
			utilruntime.Must(modelv1.Convert_model_PodDebugger_To_v1_PodDebugger(debugger, served, nil))
			modelv1.SetObjectDefaults_PodDebugger(served)
			utilruntime.Must(modelv1.Convert_v1_PodDebugger_To_model_PodDebugger(served, debugger, nil))
		},
		func(debug *model.ModelBoxDebug, c randfill.Continue) {
			c.FillNoCustom(debug)
			served := &modelv1.ModelBoxDebug{}
			utilruntime.Must(modelv1.Convert_model_ModelBoxDebug_To_v1_ModelBoxDebug(debug, served, nil))
			modelv1.SetObjectDefaults_ModelBoxDebug(served)
			utilruntime.Must(modelv1.Convert_v1_ModelBoxDebug_To_model_ModelBoxDebug(served, debug, nil))
		},
		func(rollingUpdate *model.RollingUpdate, c randfill.Continue) {
			var step intstr.IntOrString
			c.Fill(&step)
			*rollingUpdate = *helper.NewRollingUpdate(step)
			if c.Bool() {
				*rollingUpdate = model.RollingUpdate{Type: model.RollingUpdateObject}
				c.Fill(&rollingUpdate.MaxSurge)
				c.Fill(&rollingUpdate.MaxUnavailable)
			}
		},
	}
}
