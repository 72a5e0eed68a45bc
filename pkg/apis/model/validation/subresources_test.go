// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestValidateModelBoxDebug(t *testing.T) {
	of := func(change func(*model.ModelBoxDebug)) model.ModelBoxDebug {
		debug := model.ModelBoxDebug{Image: "busybox"}
		change(&debug)
		return debug
	}
	for _, row := range []struct {
		name  string
		debug model.ModelBoxDebug
		// want is what each error begins with.
		want []string
	}{
		{"an image alone", model.ModelBoxDebug{Image: "busybox"}, nil},
		{"everything for one pod", model.ModelBoxDebug{
			Image: "busybox:1.37", ImagePullPolicy: corev1.PullNever, Command: []string{"sh"}, Args: []string{"-c"}, Env: []corev1.EnvVar{{Name: "A", Value: "1"}},
			ContainerName: "debugger", TargetContainer: "web", Profile: model.DebugProfileSysadmin, Pod: "web-557996f76b-nb7ck", Stdin: true, TTY: true,
		}, nil},
		{"all pods", of(func(debug *model.ModelBoxDebug) { debug.AllPods = true }), nil},
		{"no image", model.ModelBoxDebug{}, []string{"image: Required value"}},
		{"what is no image", of(func(debug *model.ModelBoxDebug) { debug.Image = "Busy Box" }), []string{`image: Invalid value: "Busy Box"`}},
		{"an image that is too long", of(func(debug *model.ModelBoxDebug) { debug.Image = strings.Repeat("i", 1025) }), []string{"image: Too long"}},
		{"a pull policy that is none", of(func(debug *model.ModelBoxDebug) { debug.ImagePullPolicy = "Sometimes" }), []string{`imagePullPolicy: Unsupported value: "Sometimes"`}},
		{"a profile that is none", of(func(debug *model.ModelBoxDebug) { debug.Profile = "legacy" }), []string{`profile: Unsupported value: "legacy"`}},
		{"names that are none", of(func(debug *model.ModelBoxDebug) {
			debug.ContainerName, debug.TargetContainer, debug.Pod = "A", "b.c", "D"
		}),
			[]string{`containerName: Invalid value: "A"`, `pod: Invalid value: "D"`, `targetContainer: Invalid value: "b.c"`}},
		{"a variable without a name, and one twice", of(func(debug *model.ModelBoxDebug) { debug.Env = []corev1.EnvVar{{}, {Name: "A"}, {Name: "A"}} }),
			[]string{"env[0].name: Required value", `env[2].name: Duplicate value: "A"`}},
		{"too many words and variables", of(func(debug *model.ModelBoxDebug) {
			debug.Command, debug.Args, debug.Env = make([]string, 1025), make([]string, 1025), make([]corev1.EnvVar, 1025)
		}), []string{"args: Too many", "command: Too many", "env: Too many"}},
		{"one pod and all", of(func(debug *model.ModelBoxDebug) { debug.Pod, debug.AllPods = "web-1", true }), []string{"pod: Forbidden: " + mustNotUseWithAllPods}},
		{"a terminal without input", of(func(debug *model.ModelBoxDebug) { debug.TTY = true }), []string{"tty: Forbidden: " + mustUseWithStdin}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := messages(ValidateModelBoxDebug(t.Context(), &row.debug))
			slices.Sort(got)
			for i := range got {
				if i < len(row.want) && strings.HasPrefix(got[i], row.want[i]) {
					got[i] = row.want[i]
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestValidateModelBoxLogOptions(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	for _, row := range []struct {
		name    string
		options model.ModelBoxLogOptions
		want    string // of the only error, empty for none
	}{
		{"nothing", model.ModelBoxLogOptions{}, ""},
		{"the least", model.ModelBoxLogOptions{TailLines: new(int64(0)), LimitBytes: new(int64(1)), SinceSeconds: new(int64(1)), MaxLogRequests: new(int64(1))}, ""},
		{"a container and all of them", model.ModelBoxLogOptions{Container: "main", AllContainers: true}, "container: Forbidden: " + mustNotUseWithAllContainers},
		{"what has ended, followed", model.ModelBoxLogOptions{Follow: true, Previous: true}, "follow: Forbidden: " + mustNotFollowPrevious},
		{"less than no line", model.ModelBoxLogOptions{TailLines: new(int64(-1))}, "tailLines: Invalid value: -1: must be greater than or equal to 0"},
		{"no bytes", model.ModelBoxLogOptions{LimitBytes: new(int64(0))}, "limitBytes: Invalid value: 0: " + mustBeAbove0},
		{"the future", model.ModelBoxLogOptions{SinceSeconds: new(int64(0))}, "sinceSeconds: Invalid value: 0: " + mustBeAbove0},
		{"two beginnings", model.ModelBoxLogOptions{SinceSeconds: new(int64(1)), SinceTime: &now}, "sinceSeconds: Forbidden: " + mustNotUseWithSinceTime},
		{"no logs at a time", model.ModelBoxLogOptions{MaxLogRequests: new(int64(0))}, "maxLogRequests: Invalid value: 0: " + mustBeBetween(1, 1000)},
		{"too many logs at a time", model.ModelBoxLogOptions{MaxLogRequests: new(int64(1001))}, "maxLogRequests: Invalid value: 1001: " + mustBeBetween(1, 1000)},
	} {
		errs := ValidateModelBoxLogOptions(&row.options)
		if row.want == "" && len(errs) == 0 || len(errs) == 1 && row.want != "" && strings.Contains(errs[0].Error(), row.want) {
			continue
		}
		t.Errorf("%s: got %v, want %q", row.name, errs, row.want)
	}
}
