// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package autoscaling has the rules by which controllers leave the number of pods of a child to its HorizontalPodAutoscaler.
package autoscaling

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ByTarget is the name of the index of autoscalers by what they scale, which TargetKeys makes.
const ByTarget = "scaleTarget"

// Target returns what an autoscaler scales: its kind, and its namespace and name. It is false for an object that is no
// autoscaler, and for a reference that is none.
func Target(object metav1.Object) (schema.GroupKind, types.NamespacedName, bool) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return schema.GroupKind{}, types.NamespacedName{}, false
	}
	kind, name, ok := render.ScaleTarget(autoscaler)
	if !ok {
		return schema.GroupKind{}, types.NamespacedName{}, false
	}
	return kind, types.NamespacedName{Namespace: autoscaler.Namespace, Name: name}, true
}

// TargetKeys implements cache.IndexFunc.
func TargetKeys(obj any) ([]string, error) {
	autoscaler, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("expected a HorizontalPodAutoscaler, got %T", obj)
	}
	if kind, name, ok := Target(autoscaler); ok {
		return []string{targetKey(kind, name)}, nil
	}
	return nil, nil
}

func targetKey(kind schema.GroupKind, name types.NamespacedName) string {
	return kind.String() + "/" + name.String()
}

// Decides returns whether the number of pods of a live child of the kind, which is replicas, is left to an autoscaler while
// its owner asks for wanted, see render.LeavesReplicas. The autoscalers have the index ByTarget.
func Decides(autoscalers cache.Indexer, kind schema.GroupKind, live metav1.Object, replicas, wanted int32) (bool, error) {
	isScaled, err := IsScaled(autoscalers, kind, types.NamespacedName{Namespace: live.GetNamespace(), Name: live.GetName()})
	if err != nil {
		return false, err
	}
	return render.LeavesReplicas(live, replicas, wanted, isScaled), nil
}

// IsScaled returns whether one of the autoscalers, which have the index ByTarget, scales the object of the kind and name.
func IsScaled(autoscalers cache.Indexer, kind schema.GroupKind, name types.NamespacedName) (bool, error) {
	found, err := autoscalers.ByIndex(ByTarget, targetKey(kind, name))
	if err != nil {
		return false, fmt.Errorf("looking up the autoscalers of the %s: %w", kind.Kind, err)
	}
	return len(found) > 0, nil
}
