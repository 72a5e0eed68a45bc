// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

func ending(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} }

func withDebuggers(count int) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i := range count {
			pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers,
				corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: fmt.Sprintf("debugger-%d", i)}})
		}
	}
}

// expectCode expects an error of an API server with the code and the words.
func expectCode(t *testing.T, err error, code int32, words string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != code || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want %d and %q", err, code, words)
	}
}

func TestSelectDebugPods(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	var many []corev1.Pod
	for i := range modelv1.MaxDebugPods {
		many = append(many, newPod(fmt.Sprintf("web-%03d", i)))
	}
	all := model.ModelBoxDebug{AllPods: true}
	for _, row := range []struct {
		name  string
		pods  []corev1.Pod
		debug model.ModelBoxDebug
		want  []string
		// wantErr is a part of the refusal, and wantCode its code.
		wantErr  string
		wantCode int32
	}{
		{"the most active one", []corev1.Pod{newPod("a"), newPod("b", readySince(1))}, model.ModelBoxDebug{}, []string{"b"}, "", 0},
		{"the one that is named", []corev1.Pod{newPod("a"), newPod("b", readySince(1))}, model.ModelBoxDebug{Pod: "a"}, []string{"a"}, "", 0},
		{"one that is pending", []corev1.Pod{newPod("a", inPhase(corev1.PodPending))}, model.ModelBoxDebug{}, []string{"a"}, "", 0},
		{"all by their names, without those that end", []corev1.Pod{newPod("c"), newPod("b", ending), newPod("a"), newPod("d", inPhase(corev1.PodFailed))}, all, []string{"a", "c"}, "", 0},
		{"one that does not exist", []corev1.Pod{newPod("a")}, model.ModelBoxDebug{Pod: "b"}, nil, `pods "b" not found`, http.StatusNotFound},
		{"one that is being deleted", []corev1.Pod{newPod("a", ending)}, model.ModelBoxDebug{Pod: "a"}, nil, "it is being deleted", http.StatusConflict},
		{"one that has ended", []corev1.Pod{newPod("a", inPhase(corev1.PodSucceeded))}, model.ModelBoxDebug{}, nil, "it ran to completion with phase Succeeded", http.StatusConflict},
		{"none", nil, model.ModelBoxDebug{}, nil, "it has no pods", http.StatusConflict},
		{"all of none that run", []corev1.Pod{newPod("a", ending)}, all, nil, "it has no pods that run", http.StatusConflict},
		{"as many as there may be, and one that ends", append([]corev1.Pod{newPod("a", ending)}, many...), all, namesOf(many), "", 0},
		{"more than there may be", append([]corev1.Pod{newPod("a")}, many...), all, nil, "allPods: Invalid value: true: the box has 101 pods, of which 100 can be debugged at once", http.StatusUnprocessableEntity},
	} {
		t.Run(row.name, func(t *testing.T) {
			pods, err := SelectDebugPods(box, row.pods, &row.debug)
			if row.wantCode != 0 {
				expectCode(t, err, row.wantCode, row.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, pod := range pods {
				got = append(got, pod.Name)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func namesOf(pods []corev1.Pod) []string {
	var names []string
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	return names
}

func TestNewDebugContainerTargets(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: modelv1.ModelBoxSpec{Name: "web"}}
	annotated := newPod("a", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{debugcontainer.DefaultContainerAnnotation: "injected"}
	})
	for _, row := range []struct {
		name string
		pod  corev1.Pod
		// target is what is asked for.
		target, want, wantErr string
	}{
		{"the main container of the box", newPod("a"), "", "web", ""},
		{"the one of the annotation", annotated, "", "injected", ""},
		{"the one that is named", annotated, "web", "web", ""},
		{"an init container that is named", annotated, "prepare", "prepare", ""},
		{"no ephemeral one", newPod("a", withDebuggers(1)), "debugger-0", "", `targetContainer: Unsupported value: "debugger-0": supported values: "injected", "web", "prepare"`},
		{"none that is not there", newPod("a"), "none", "", `targetContainer: Unsupported value: "none"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			container, err := NewDebugContainer(box, &row.pod, &model.ModelBoxDebug{TargetContainer: row.target}, "debugger")
			if row.wantErr != "" {
				expectCode(t, err, http.StatusUnprocessableEntity, row.wantErr)
				return
			}
			if err != nil || container.TargetContainerName != row.want {
				t.Errorf("got %+v, %v, want the target %q", container, err, row.want)
			}
		})
	}
}

func TestNewDebugContainerIsWhatIsAsked(t *testing.T) {
	box, pod := &modelv1.ModelBox{}, newPod("a", withDebuggers(maxEphemeralContainers-1))
	env := []corev1.EnvVar{{Name: "A", Value: "1"}}
	got, err := NewDebugContainer(box, &pod, &model.ModelBoxDebug{
		Image: "busybox", ImagePullPolicy: corev1.PullAlways, Command: []string{"sh"}, Args: []string{"-c"}, Env: env, Stdin: true, TTY: true, Profile: model.DebugProfileBaseline,
	}, "debugger")
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debugger", Image: "busybox", ImagePullPolicy: corev1.PullAlways, Command: []string{"sh"}, Args: []string{"-c"}, Env: env, Stdin: true, TTY: true,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}, TargetContainerName: "injected"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err = NewDebugContainer(box, &pod, &model.ModelBoxDebug{}, "debugger-0")
	expectCode(t, err, http.StatusUnprocessableEntity, `containerName: Duplicate value: "debugger-0"`)
	pod = newPod("a", withDebuggers(maxEphemeralContainers))
	_, err = NewDebugContainer(box, &pod, &model.ModelBoxDebug{}, "debugger")
	expectCode(t, err, http.StatusConflict, "it has 50 ephemeral containers, which cannot be removed")
}

// TestEveryProfileMakesAContainer requires the profiles of the API, and no other one.
func TestEveryProfileMakesAContainer(t *testing.T) {
	pod := newPod("a")
	served := []modelv1.DebugProfile{
		modelv1.DebugProfileGeneral, modelv1.DebugProfileBaseline, modelv1.DebugProfileRestricted, modelv1.DebugProfileNetadmin, modelv1.DebugProfileSysadmin,
	}
	var names []modelv1.DebugProfile
	for _, profile := range debugcontainer.Profiles() {
		names = append(names, modelv1.DebugProfile(profile))
		if _, err := NewDebugContainer(&modelv1.ModelBox{}, &pod, &model.ModelBoxDebug{Profile: model.DebugProfile(profile)}, "debugger"); err != nil {
			t.Errorf("%s: %v", profile, err)
		}
	}
	if diff := cmp.Diff(served, names); diff != "" {
		t.Errorf("the profiles, -API +render:\n%s", diff)
	}
}
