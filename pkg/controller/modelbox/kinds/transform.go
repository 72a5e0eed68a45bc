// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// childScheme has the kinds of children.
var childScheme = runtime.NewScheme()

func init() {
	utilruntime.Must(scheme.AddToScheme(childScheme))
	utilruntime.Must(gatewayv1.Install(childScheme))
}

// TrimChild returns what the cache keeps of a child. It sets the kind, which the API leaves out of lists. It keeps only the managed
// fields that tell whether the child is as it was written, and which managers have paused it. It replaces the data of ConfigMaps by
// digests.
func TrimChild(obj any) (any, error) {
	object, ok := obj.(children.Object)
	if !ok {
		return obj, nil
	}
	kinds, _, err := childScheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	kept := pausersOf(object)
	if configMap, ok := object.(*corev1.ConfigMap); ok {
		kept = append(kept, trimConfigMap(configMap))
	}
	apply.Trim(object, kept...)
	return object, nil
}
