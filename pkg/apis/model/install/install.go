// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package install adds every version of the model.github.com API group to a scheme.
package install

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Install registers the internal and the served types, with v1 as the preferred and the stored version.
func Install(scheme *runtime.Scheme) {
	utilruntime.Must(model.AddToScheme(scheme))
	utilruntime.Must(modelv1.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(modelv1.SchemeGroupVersion))
}
