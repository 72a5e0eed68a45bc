// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
)

func newRewriter(objects ...runtime.Object) *Rewriter {
	return &Rewriter{Client: kubefake.NewClientset(objects...), FieldManager: "test", Timeout: 5 * time.Second}
}

func webDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-of-deployment"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1"}}},
			},
		},
	}
}

// webReplicaSet is the ReplicaSet of webDeployment, and webPod its pod.
func webReplicaSet() *appsv1.ReplicaSet {
	labels := map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "abc"}
	deployment := webDeployment()
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-abc", UID: "uid-of-set", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: deployment.Spec.Template},
	}
	set.Spec.Template.Labels = labels
	return set
}

func webPod() *corev1.Pod {
	set := webReplicaSet()
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-abc-1", UID: "uid-of-pod", Labels: set.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
	}}
}

func TestReplicaSetTakesATemplateWithItsOwnHash(t *testing.T) {
	r := newRewriter(webDeployment(), webReplicaSet())
	template := webDeployment().Spec.Template.DeepCopy()
	template.Labels = map[string]string{"app": "web", "modelbox": "web"}
	if err := r.SetTemplate(t.Context(), webReplicaSet(), template); err != nil {
		t.Fatal(err)
	}
	set, err := r.Client.AppsV1().ReplicaSets("shop").Get(t.Context(), "web-abc", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"app": "web", "modelbox": "web", appsv1.DefaultDeploymentUniqueLabelKey: "abc"}
	if diff := cmp.Diff(want, set.Spec.Template.Labels); diff != "" {
		t.Errorf("labels of the template (-want +got):\n%s", diff)
	}
	if !IsSameTemplate(&set.Spec.Template, template) {
		t.Error("the Deployment controller would take it for another template")
	}
}

func TestCurrentReplicaSetIsTheDeploymentsOwn(t *testing.T) {
	foreign := webReplicaSet()
	foreign.Name, foreign.OwnerReferences = "web-aaa", nil
	old := webReplicaSet()
	old.Name, old.Spec.Template.Spec.Containers = "web-old", nil
	r := newRewriter(foreign, old, webReplicaSet())
	deployment := webDeployment()
	set, err := r.CurrentReplicaSet(t.Context(), deployment, &deployment.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	if set == nil || set.Name != "web-abc" {
		t.Errorf("got %v, want web-abc", set)
	}
	deployment.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	if set, err = r.CurrentReplicaSet(t.Context(), deployment, &deployment.Spec.Template); err != nil || set != nil {
		t.Errorf("got %v, %v for a template that no ReplicaSet has", set, err)
	}
}

func TestPodsAreLabelledAsTheyRun(t *testing.T) {
	stranger := webPod()
	stranger.Name, stranger.OwnerReferences = "stranger", nil
	r := newRewriter(webPod(), stranger)
	labels, annotations := map[string]any{"modelbox": "web", "gone": nil}, map[string]any{"note": "a"}
	if err := r.LabelPods(t.Context(), webReplicaSet(), labels, annotations); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"web-abc-1": "web", "stranger": ""} {
		pod, err := r.Client.CoreV1().Pods("shop").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := pod.Labels["modelbox"]; got != want {
			t.Errorf("pod %s has the label %q, want %q", name, got, want)
		}
	}
}

func TestIsLabelledComparesWithAPatch(t *testing.T) {
	for _, row := range []struct {
		name  string
		patch map[string]any
		want  bool
	}{
		{"nothing is to be set", nil, true},
		{"the same value", map[string]any{"a": "1"}, true},
		{"another value", map[string]any{"a": "2"}, false},
		{"a label that is missing and has a value", map[string]any{"b": "1"}, false},
		{"a label that is to go", map[string]any{"a": nil}, false},
		{"a label that is gone", map[string]any{"b": nil}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := isLabelled(map[string]string{"a": "1"}, row.patch); got != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
