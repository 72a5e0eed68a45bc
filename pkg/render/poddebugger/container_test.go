// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

func newDebugger(name string, uid types.UID) *modelv1.PodDebugger {
	debugger := &modelv1.PodDebugger{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}, Spec: modelv1.PodDebuggerSpec{Image: "busybox:1.37"}}
	modelv1.SetObjectDefaults_PodDebugger(debugger)
	return debugger
}

// The name is how pods are known that have the container: with another one, every pod would get a second container after an
// upgrade.
func TestContainerNameStaysAsItIs(t *testing.T) {
	const uid = types.UID("6f0b1c9e-5a53-4c55-9d0e-5e1f3a1f7d11")
	for name, want := range map[string]string{
		"tools":                                 "tools-74ff7b5fc",
		strings.Repeat("x", 62) + "y":           strings.Repeat("x", 53) + "-74ff7b5fc",
		strings.Repeat("x", 52) + "-yyyyyyyyyy": strings.Repeat("x", 52) + "-74ff7b5fc",
	} {
		got := ContainerName(newDebugger(name, uid))
		if got != want {
			t.Errorf("the container of %s is %s, want %s", name, got, want)
		}
		if errs := validation.IsDNS1123Label(got); len(errs) > 0 {
			t.Errorf("%s is no name of a container: %v", got, errs)
		}
	}
	if first, second := ContainerName(newDebugger("tools", "1")), ContainerName(newDebugger("tools", "2")); first == second {
		t.Errorf("two PodDebuggers of the same name have the container %s", first)
	}
}

func TestContainer(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web"}, {Name: "proxy"}}}}
	annotated := pod.DeepCopy()
	annotated.Annotations = map[string]string{debugcontainer.DefaultContainerAnnotation: "proxy"}
	container := func(change func(*corev1.EphemeralContainer)) *corev1.EphemeralContainer {
		container := &corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: ContainerName(newDebugger("tools", "1")), Image: "busybox:1.37", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
				SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_PTRACE"}}},
			},
			TargetContainerName: "web",
		}
		change(container)
		return container
	}
	for _, row := range []struct {
		name   string
		change func(*modelv1.PodDebuggerSpec)
		pod    *corev1.Pod
		want   *corev1.EphemeralContainer
	}{
		{"the first container is the target", func(*modelv1.PodDebuggerSpec) {}, pod, container(func(*corev1.EphemeralContainer) {})},
		{"the pod's default container is the target", func(*modelv1.PodDebuggerSpec) {}, annotated,
			container(func(container *corev1.EphemeralContainer) { container.TargetContainerName = "proxy" })},
		{"a target that is named", func(spec *modelv1.PodDebuggerSpec) { spec.TargetContainer = "web" }, annotated, container(func(*corev1.EphemeralContainer) {})},
		{"everything", func(spec *modelv1.PodDebuggerSpec) {
			spec.ImagePullPolicy, spec.Command, spec.Args = corev1.PullNever, []string{"sh"}, []string{"-c", "ps"}
			spec.Env, spec.Profile = []corev1.EnvVar{{Name: "A", Value: "1"}}, modelv1.DebugProfileSysadmin
		}, pod, container(func(container *corev1.EphemeralContainer) {
			container.ImagePullPolicy, container.Command, container.Args = corev1.PullNever, []string{"sh"}, []string{"-c", "ps"}
			container.Env, container.SecurityContext = []corev1.EnvVar{{Name: "A", Value: "1"}}, &corev1.SecurityContext{Privileged: ptr.To(true)}
		})},
	} {
		t.Run(row.name, func(t *testing.T) {
			debugger := newDebugger("tools", "1")
			row.change(&debugger.Spec)
			got, err := Container(debugger, row.pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEveryProfileIsOneOfKubectl(t *testing.T) {
	profiles := []modelv1.DebugProfile{
		modelv1.DebugProfileGeneral, modelv1.DebugProfileBaseline, modelv1.DebugProfileRestricted, modelv1.DebugProfileNetadmin, modelv1.DebugProfileSysadmin,
	}
	var known []modelv1.DebugProfile
	for _, profile := range debugcontainer.Profiles() {
		known = append(known, modelv1.DebugProfile(profile))
	}
	slices.Sort(profiles)
	slices.Sort(known)
	if diff := cmp.Diff(known, profiles); diff != "" {
		t.Errorf("-kubectl +API:\n%s", diff)
	}
}
