// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package argorollouts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestNew(t *testing.T) {
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](4), MinReadySeconds: 3, RevisionHistoryLimit: ptr.To[int32](5),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	steps := []Step{{Weight: 25, Pause: "5s"}, {Weight: 50}}
	for _, row := range []struct {
		name           string
		maxUnavailable *intstr.IntOrString
		want           any
	}{
		{"by default", nil, nil},
		{"none", ptr.To(intstr.FromInt32(0)), int64(0)},
		{"a share", ptr.To(intstr.FromString("50%")), "50%"},
	} {
		t.Run(row.name, func(t *testing.T) {
			rollout, err := New(deployment, Settings{Steps: steps, ProgressDeadlineSeconds: 40, MaxUnavailable: row.maxUnavailable})
			if err != nil {
				t.Fatal(err)
			}
			if rollout.GetKind() != "Rollout" || rollout.GetNamespace() != "shop" || rollout.GetName() != "web" {
				t.Errorf("it is %s %s/%s", rollout.GetKind(), rollout.GetNamespace(), rollout.GetName())
			}
			canary := map[string]any{"steps": []any{
				map[string]any{"setWeight": int64(25)}, map[string]any{"pause": map[string]any{"duration": "5s"}},
				map[string]any{"setWeight": int64(50)}, map[string]any{"pause": map[string]any{}},
			}}
			if row.want != nil {
				canary["maxUnavailable"] = row.want
			}
			want := map[string]any{
				"replicas": int64(4), "minReadySeconds": int64(3), "revisionHistoryLimit": int64(5),
				"progressDeadlineSeconds": int64(40), "progressDeadlineAbort": true,
				"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
				"strategy": map[string]any{"canary": canary},
			}
			spec := rollout.Object["spec"].(map[string]any)
			image, _, err := unstructured.NestedSlice(spec, "template", "spec", "containers")
			if err != nil || len(image) != 1 || image[0].(map[string]any)["image"] != "web:1" {
				t.Errorf("the containers are %v, %v", image, err)
			}
			delete(spec, "template")
			if diff := cmp.Diff(want, spec); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestIsHealthy(t *testing.T) {
	for _, row := range []struct {
		name, phase, observed string
		want                  bool
	}{
		{"all is well", "Healthy", "2", true},
		{"a former generation was", "Healthy", "1", false},
		{"it progresses", "Progressing", "2", false},
		{"nothing is known", "", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			rollout := &unstructured.Unstructured{Object: map[string]any{
				"status": map[string]any{"phase": row.phase, "observedGeneration": row.observed},
			}}
			rollout.SetGeneration(2)
			if got := IsHealthy(rollout); got != row.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
