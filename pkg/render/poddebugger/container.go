// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger renders the ephemeral container of a PodDebugger.
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

// Kind is the kind of PodDebuggers in events.
var Kind = modelv1.SchemeGroupVersion.WithKind("PodDebugger")

// ContainerName returns the name of the container in all pods. It depends only on the name and the UID of the PodDebugger, so that
// every server identifies the pods that have the container, and kube-apiserver refuses a second one. A PodDebugger that is deleted
// and created again has another name for its container.
func ContainerName(debugger *modelv1.PodDebugger) string {
	hash := fnv.New32a()
	hash.Write([]byte(debugger.UID))
	suffix := "-" + rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
	prefix := debugger.Name[:min(len(debugger.Name), validation.DNS1123LabelMaxLength-len(suffix))]
	return strings.TrimRight(prefix, "-") + suffix
}

// Container returns the ephemeral container for the pod. The PodDebugger must be defaulted and valid. Of the pod, Container only
// reads the names of its containers and debugcontainer.DefaultContainerAnnotation.
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
