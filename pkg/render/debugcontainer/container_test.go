// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package debugcontainer

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/cmd/debug"
)

func podOf(containers ...string) *corev1.Pod {
	pod := &corev1.Pod{}
	for _, name := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
	}
	return pod
}

// everyProfile is each that there is, and the empty one for the default.
var everyProfile = append(Profiles(), "")

func TestProfilesAreThoseOfKubectl(t *testing.T) {
	for _, profile := range everyProfile {
		t.Run(string(profile), func(t *testing.T) {
			ours, err := New(Options{Name: "debugger", Image: "busybox", Profile: profile})
			if err != nil {
				t.Fatal(err)
			}
			if !profile.IsKnown() {
				t.Error("it is not known")
			}
			name := string(profile)
			if name == "" {
				name = debug.ProfileGeneral
			}
			applier, err := debug.NewProfileApplier(name, debug.KeepFlags{})
			if err != nil {
				t.Fatal(err)
			}
			pod := podOf("web")
			pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: "debugger", Image: "busybox", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}}}
			if err := applier.Apply(pod, "debugger", pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&pod.Spec.EphemeralContainers[0], ours); diff != "" {
				t.Errorf("the container of the profile (-kubectl +ours):\n%s", diff)
			}
		})
	}
}

func TestUnknownProfile(t *testing.T) {
	for _, profile := range []Profile{"General", "root"} {
		if profile.IsKnown() {
			t.Errorf("%q is known", profile)
		}
		if _, err := New(Options{Name: "debugger", Image: "busybox", Profile: profile}); err == nil {
			t.Errorf("%q makes a container", profile)
		}
		if _, err := debug.NewProfileApplier(string(profile), debug.KeepFlags{}); err == nil {
			t.Errorf("kubectl knows %q", profile)
		}
	}
}

func TestNewKeepsWhatIsAsked(t *testing.T) {
	options := Options{
		Name: "debugger", Image: "busybox:1.37", ImagePullPolicy: corev1.PullNever, Command: []string{"sh"}, Args: []string{"-c", "ps"},
		Env: []corev1.EnvVar{{Name: "A", Value: "1"}}, TargetContainerName: "web", Stdin: true, TTY: true, Profile: ProfileBaseline,
	}
	got, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "debugger", Image: "busybox:1.37", ImagePullPolicy: corev1.PullNever, Command: []string{"sh"}, Args: []string{"-c", "ps"},
			Env: []corev1.EnvVar{{Name: "A", Value: "1"}}, Stdin: true, TTY: true, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		},
		TargetContainerName: "web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the container (-want +got):\n%s", diff)
	}
	got.Command[0], got.Env[0].Value = "changed", "changed"
	if options.Command[0] != "sh" || options.Env[0].Value != "1" {
		t.Error("the options share what the container is made of")
	}
}

func TestContainersDoNotShareTheirProfile(t *testing.T) {
	first, err := New(Options{Profile: ProfileGeneral})
	if err != nil {
		t.Fatal(err)
	}
	first.SecurityContext.Capabilities.Add[0] = "SYS_ADMIN"
	second, err := New(Options{Profile: ProfileGeneral})
	if err != nil {
		t.Fatal(err)
	}
	if got := second.SecurityContext.Capabilities.Add[0]; got != "SYS_PTRACE" {
		t.Errorf("it adds %s", got)
	}
}

func TestGenerateName(t *testing.T) {
	if name := GenerateName(podOf("web")); !regexp.MustCompile(`^debugger-[a-z0-9]{5}$`).MatchString(name) {
		t.Errorf("the name is %q", name)
	}
}

func TestDefaultTarget(t *testing.T) {
	for _, test := range []struct {
		name, annotation string
		pod              *corev1.Pod
		preferred        []string
		want             string
	}{
		{"the container of the annotation", "log", podOf("web", "log"), []string{"web"}, "log"},
		{"not an annotation of what is not there", "none", podOf("web", "log"), nil, "web"},
		{"not an init container that the annotation names", "prepare", podOf("web"), nil, "web"},
		{"the preferred one", "", podOf("web", "log"), []string{"log"}, "log"},
		{"the first preferred one that there is", "", podOf("web", "log"), []string{"", "none", "log", "web"}, "log"},
		{"the first one", "", podOf("web", "log"), nil, "web"},
		{"none of a pod without containers", "", podOf(), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.pod.Annotations = map[string]string{DefaultContainerAnnotation: test.annotation}
			test.pod.Spec.InitContainers = []corev1.Container{{Name: "prepare"}}
			if got := DefaultTarget(test.pod, test.preferred...); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestHasContainer(t *testing.T) {
	pod := podOf("web")
	pod.Spec.InitContainers = []corev1.Container{{Name: "prepare"}}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}}}
	if diff := cmp.Diff([]string{"web", "prepare", "debugger"}, ContainerNames(pod)); diff != "" {
		t.Errorf("the containers (-want +got):\n%s", diff)
	}
	if !HasContainer(pod, "prepare") || HasContainer(pod, "none") {
		t.Error("prepare is one, none is not")
	}
}
