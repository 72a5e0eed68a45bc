// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

func TestPodsOf(t *testing.T) {
	box := fixture.WebBox(t)
	f := newTestController(t, box)
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.Phase = phase }
	}
	f.cache(t,
		newPod("web-c"),
		newPod("web-a", phase(corev1.PodPending)),
		newPod("web-b"),
		newPod("web-terminating", func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.Now()) }),
		newPod("web-evicted", phase(corev1.PodFailed)),
		newPod("web-done", phase(corev1.PodSucceeded)),
		newPod("web-elsewhere", func(pod *corev1.Pod) { pod.Namespace = "other" }),
		newPod("mail-a", func(pod *corev1.Pod) { pod.Labels["modelbox"] = "mail" }),
		newPod("unlabelled", func(pod *corev1.Pod) { pod.Labels = nil }),
	)
	pods, err := kinds.PodsOf(f.pods, apply.KeyOf(box))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pod := range pods {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff([]string{"web-a", "web-b", "web-c"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
