// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newDebug returns the answer to a request to debug box web.
func newDebug(pods ...modelv1.ModelBoxDebugPod) *modelv1.ModelBoxDebug {
	return &modelv1.ModelBoxDebug{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxDebug"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Status:     modelv1.ModelBoxDebugStatus{Pods: pods},
	}
}

// podsIn returns the list of pods, with pod web-1 whose container debugger is in a state.
func podsIn(state corev1.ContainerState) *corev1.PodList {
	pod := newPod("web-1", "web")
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}}}
	pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debugger", State: state}}
	return &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod}}
}

func TestDebug(t *testing.T) {
	const (
		web       = `POST modelboxes/web/debug?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","image":"busybox","kind":"ModelBoxDebug","profile":"general"}`
		withInput = `POST modelboxes/web/debug?fieldManager=kubectl-modelbox ` +
			`{"apiVersion":"model.github.com/v1","image":"busybox","kind":"ModelBoxDebug","profile":"general","stdin":true}`
		logs = "GET pods/web-1/log?container=debugger&follow=true"
	)
	added := modelv1.ModelBoxDebugPod{Name: "web-1", ContainerName: "debugger", TargetContainer: "web"}
	running := podsIn(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	runAll(t, []commandTest{
		{name: "a pod", arguments: []string{"debug", "web", "--image=busybox"}, prints: []string{"pod/web-1: ", "debugger"}, requests: []string{web}},
		{name: "by a type and a name", arguments: []string{"debug", "mb/web", "--image=busybox"}, prints: []string{"pod/web-1: "}, requests: []string{web}},
		{
			name: "with everything",
			arguments: []string{
				"debug", "web", "--image=busybox", "--image-pull-policy=Never", "--env=B=2", "--env=A=1", "-c", "debugger", "--target=sidecar", "--profile=netadmin",
				"--pod=web-1", "--field-manager=me", "--", "ps", "-a",
			},
			prints: []string{"pod/web-1: "},
			requests: []string{`POST modelboxes/web/debug?fieldManager=me {"apiVersion":"model.github.com/v1","command":["ps","-a"],"containerName":"debugger",` +
				`"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"busybox","imagePullPolicy":"Never","kind":"ModelBoxDebug","pod":"web-1",` +
				`"profile":"netadmin","targetContainer":"sidecar"}`},
		},
		{
			name: "with arguments of the entrypoint", arguments: []string{"debug", "web", "--image=busybox", "--arguments-only", "--", "-a"}, prints: []string{"pod/web-1: "},
			requests: []string{
				`POST modelboxes/web/debug?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","args":["-a"],"image":"busybox","kind":"ModelBoxDebug","profile":"general"}`,
			},
		},
		{
			name: "all pods, of which one refuses", arguments: []string{"debug", "web", "--image=busybox", "--all-pods"}, prints: []string{"pod/web-1: "}, fails: "pod/web-2: it has ended",
			answers: map[string]runtime.Object{"POST modelboxes/web/debug": newDebug(added, modelv1.ModelBoxDebugPod{Name: "web-2", Message: "it has ended"})},
			requests: []string{
				`POST modelboxes/web/debug?fieldManager=kubectl-modelbox {"allPods":true,"apiVersion":"model.github.com/v1","image":"busybox","kind":"ModelBoxDebug","profile":"general"}`,
			},
		},
		{
			name: "by a dry run of the server", arguments: []string{"debug", "web", "-it", "--image=busybox", "--dry-run=server"}, prints: []string{"pod/web-1: ", "(server dry run)"},
			requests: []string{`POST modelboxes/web/debug?dryRun=All&fieldManager=kubectl-modelbox ` +
				`{"apiVersion":"model.github.com/v1","image":"busybox","kind":"ModelBoxDebug","profile":"general","stdin":true,"tty":true}`},
		},
		{name: "by a dry run of the client", arguments: []string{"debug", "web", "--image=busybox", "--dry-run=client"}, fails: "--dry-run=server"},
		{
			name: "the answer of the server", arguments: []string{"debug", "web", "--image=busybox", "--output=jsonpath={.kind} {.status.pods[*].containerName}"},
			output: []string{"ModelBoxDebug debugger"}, requests: []string{web},
		},
		{name: "the name", arguments: []string{"debug", "web", "--image=busybox", "-o", "name"}, output: []string{"modelbox.model.github.com/web"}, requests: []string{web}},
		{
			name: "with input", arguments: []string{"debug", "web", "-i", "--image=busybox"}, answers: map[string]runtime.Object{"GET pods": running}, fails: "debugger",
			says: []string{"pod/web-1: ", "If you don't see a command prompt", "warning: couldn't attach to pod/web-1"},
			requests: append(append([]string{withInput},
				connections("modelboxes/web/attach?container=debugger&pod=web-1&stderr=true&stdin=true&stdout=true")...), logs),
		},
		{
			name: "with input, of a container that has ended", arguments: []string{"debug", "web", "-i", "--image=busybox"}, fails: "debugger", says: []string{"pod/web-1: "},
			answers:  map[string]runtime.Object{"GET pods": podsIn(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})},
			requests: []string{withInput, logs},
		},
		{
			name: "attached to without input", arguments: []string{"debug", "web", "--attach", "--image=busybox"}, answers: map[string]runtime.Object{"GET pods": running}, fails: "debugger",
			says: []string{"pod/web-1: "}, requests: []string{web, logs},
		},
		{
			name: "an image that cannot be pulled", arguments: []string{"debug", "web", "--attach", "--image=busybox"}, fails: "ImagePullBackOff: no such image", requests: []string{web},
			answers: map[string]runtime.Object{"GET pods": podsIn(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such\nimage"}})},
		},
		{
			name: "a box that may not be debugged", arguments: []string{"debug", "web", "--image=busybox"}, fails: "modelboxes/debug.model.github.com is forbidden", requests: []string{web},
			answers: map[string]runtime.Object{"POST modelboxes/web/debug": forbidden("modelboxes/debug")},
		},
		{
			name: "a box that is not found", arguments: []string{"debug", "nope", "--image=busybox"}, fails: "not found",
			requests: []string{`POST modelboxes/nope/debug?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","image":"busybox","kind":"ModelBoxDebug","profile":"general"}`},
		},
		{
			name: "a warning of the server", arguments: []string{"debug", "web", "--image=busybox"}, warning: "it sees no processes", says: []string{"Warning: it sees no processes"},
			prints: []string{"pod/web-1: "}, requests: []string{web},
		},
		{name: "no image", arguments: []string{"debug", "web"}, fails: "--image"},
		{name: "no box", arguments: []string{"debug", "--image=busybox", "--", "ps"}, fails: "the name of one box"},
		{name: "a stack", arguments: []string{"debug", "mst/shop", "--image=busybox"}, fails: `"mst/shop" does not name a box`},
		{name: "a terminal without input", arguments: []string{"debug", "web", "-t", "--image=busybox"}, fails: "--stdin is required"},
		{name: "all pods and one", arguments: []string{"debug", "web", "--all-pods", "--pod=web-1", "--image=busybox"}, fails: "--all-pods and --pod may not"},
		{name: "attached to all pods", arguments: []string{"debug", "web", "--all-pods", "--attach", "--image=busybox"}, fails: "--attach and --all-pods may not"},
		{name: "attached to after a dry run", arguments: []string{"debug", "web", "--attach", "--dry-run=server", "--image=busybox"}, fails: "--attach and --dry-run may not"},
		{name: "attached to, with an output", arguments: []string{"debug", "web", "-i", "-o", "yaml", "--image=busybox"}, fails: "--attach and --output may not"},
		{name: "no arguments of the entrypoint", arguments: []string{"debug", "web", "--arguments-only", "--image=busybox"}, fails: "--arguments-only requires"},
	}, stored(newBox("web"), newPod("web-1", "web")), map[string]runtime.Object{"POST modelboxes/web/debug": newDebug(added)})
}
