// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// podOfSet returns a pod of a StatefulSet that has these claims and has been ready for a minute.
func podOfSet(now time.Time, ordinal int, claims ...string) *corev1.Pod {
	return newPod(fmt.Sprintf("web-%d", ordinal), func(pod *corev1.Pod) {
		pod.UID = "pod"
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(completeStatefulSet(), appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
		for _, claim := range claims {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim + "-" + pod.Name},
			}})
		}
	})
}

func TestPodWithoutStorage(t *testing.T) {
	now := time.Now()
	pods := func(pods ...*corev1.Pod) []*corev1.Pod { return pods }
	complete, lacking := func(ordinal int) *corev1.Pod { return podOfSet(now, ordinal, "data", "logs") }, func(ordinal int) *corev1.Pod { return podOfSet(now, ordinal, "data") }
	changed := func(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
		change(pod)
		return pod
	}
	unready := func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }
	fresh := func(pod *corev1.Pod) { pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now) }
	orphaned := func(pod *corev1.Pod) { pod.OwnerReferences = nil }
	foreign := func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "former" }
	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		want string
	}{
		{"all have it", pods(complete(0), complete(1), complete(2)), ""},
		{"none has it", pods(lacking(0), lacking(1), lacking(2)), "web-0"},
		{"the first has got it", pods(complete(0), lacking(1), lacking(2)), "web-1"},
		{"a pod without it is not ready", pods(complete(0), changed(lacking(1), unready), lacking(2)), "web-1"},
		{"the pod before is not ready", pods(changed(complete(0), unready), lacking(1), lacking(2)), ""},
		{"the pod before is not available yet", pods(changed(complete(0), fresh), lacking(1), lacking(2)), ""},
		{"the pod before is not there", pods(lacking(1), lacking(2)), ""},
		{"the pod is not adopted yet", pods(changed(lacking(0), orphaned), lacking(1)), ""},
		{"a pod of another StatefulSet has its name", pods(changed(lacking(0), foreign), lacking(1)), ""},
		{"a pod beyond the replicas", pods(complete(0), complete(1), complete(2), lacking(3)), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			set := completeStatefulSet(func(set *appsv1.StatefulSet) {
				set.Spec.MinReadySeconds = 10
				set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*newClaim("data"), *newClaim("logs")}
			})
			got := ""
			if pod := rollouts.PodWithoutStorage(set, row.pods, now); pod != nil {
				got = pod.Name
			}
			check(t, "pod", row.want, got)
		})
	}
}

func TestPodWithoutStorageIsDeleted(t *testing.T) {
	pod := podOfSet(time.Now(), 0)
	for _, row := range []struct {
		name         string
		paused       bool
		set          func(*appsv1.StatefulSet)
		wantRequests []string
	}{
		{"it is", false, func(*appsv1.StatefulSet) {}, []string{"delete pods web-0"}},
		{"but not while the box is paused", true, func(*appsv1.StatefulSet) {}, nil},
		{"but not of a StatefulSet that a user has partitioned", false, func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](1) }, nil},
		{"but not of a StatefulSet that is being deleted", false, func(set *appsv1.StatefulSet) { set.DeletionTimestamp = ptr.To(metav1.Now()) }, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := statefulBox(t)
			box.Spec.Paused = row.paused
			f := newTestController(t, box, pod.DeepCopy())
			set := completeStatefulSet(row.set, func(set *appsv1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*newClaim("data")}
			})
			if err := f.rollouts.DeletePodWithoutStorage(t.Context(), box, &status.Observation{Workload: kinds.AsWorkload(set), Pods: []*corev1.Pod{pod}, Now: time.Now()}); err != nil {
				t.Fatal(err)
			}
			check(t, "requests", row.wantRequests, f.requests())
		})
	}
}
