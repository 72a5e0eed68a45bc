// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package set

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// refuseChildren makes the subcommand, in this process, refuse what a box controls: the server restores it at once.
func refuseChildren(subcommand string) {
	update := polymorphichelpers.UpdatePodSpecForObjectFn
	polymorphichelpers.UpdatePodSpecForObjectFn = func(object runtime.Object, change func(*corev1.PodSpec) error) (bool, error) {
		if box := controllingBox(object); box != "" {
			return true, fmt.Errorf("is controlled by modelboxes/%[1]s, which reverts changes: use kubectl modelbox set %[2]s %[1]s instead", box, subcommand)
		}
		return update(object, change)
	}
}

// controllingBox returns the name of the box that controls the object, "" where none does.
func controllingBox(object runtime.Object) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	owner := metav1.GetControllerOfNoCopy(accessor)
	if owner == nil || owner.Kind != "ModelBox" || schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group != modelv1.GroupName {
		return ""
	}
	return owner.Name
}
