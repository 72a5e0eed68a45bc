// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger renders PodDebuggers: the ephemeral container that the pods of one get.
package poddebugger

import (
	"hash/fnv"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// Kind is that of PodDebuggers, as events have it.
var Kind = modelv1.SchemeGroupVersion.WithKind("PodDebugger")

// ContainerName returns the name that the container has in every pod. It is made of the name and the UID of the PodDebugger and of
// nothing else: by it, every server knows the pods that have the container, and the API server refuses a second one. A PodDebugger
// that is created anew has containers of another name.
func ContainerName(debugger *modelv1.PodDebugger) string {
	hash := fnv.New32a()
	hash.Write([]byte(debugger.UID))
	suffix := "-" + rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
	prefix := debugger.Name[:min(len(debugger.Name), validation.DNS1123LabelMaxLength-len(suffix))]
	return strings.TrimRight(prefix, "-") + suffix
}

// Container returns the container that the pod gets. The PodDebugger has to be defaulted and valid. Of the pod, the names of its
// containers and debugcontainer.DefaultContainerAnnotation are looked at.
func Container(debugger *modelv1.PodDebugger, pod *corev1.Pod) (*corev1.EphemeralContainer, error) {
	target := debugger.Spec.TargetContainer
	if target == "" {
		target = debugcontainer.DefaultTarget(pod)
	}
	return debugcontainer.New(debugcontainer.Options{
		Name:                ContainerName(debugger),
		Image:               debugger.Spec.Image,
		ImagePullPolicy:     debugger.Spec.ImagePullPolicy,
		Command:             debugger.Spec.Command,
		Args:                debugger.Spec.Args,
		Env:                 debugger.Spec.Env,
		TargetContainerName: target,
		Profile:             debugcontainer.Profile(debugger.Spec.Profile),
	})
}
