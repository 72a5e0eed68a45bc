// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// NewRollingUpdate is modelv1.NewRollingUpdate for the internal type.
func NewRollingUpdate(step intstr.IntOrString) *model.RollingUpdate {
	rollingUpdate := &model.RollingUpdate{}
	utilruntime.Must(modelv1.Convert_v1_RollingUpdate_To_model_RollingUpdate(modelv1.NewRollingUpdate(step), rollingUpdate, nil))
	return rollingUpdate
}

// RollingUpdateStep is modelv1.RollingUpdate.Step for the internal type.
func RollingUpdateStep(rollingUpdate *model.RollingUpdate) (intstr.IntOrString, bool) {
	served := &modelv1.RollingUpdate{}
	utilruntime.Must(modelv1.Convert_model_RollingUpdate_To_v1_RollingUpdate(rollingUpdate, served, nil))
	return served.Step()
}
