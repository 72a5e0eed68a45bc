// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

func TestJudgeSaysWhatBecomesOfChildren(t *testing.T) {
	child := func(apiVersion, kind, name string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		object.SetName(name)
		return object
	}
	deployment := func(t *testing.T, change func(*appsv1.Deployment)) []*unstructured.Unstructured {
		d := webDeployment()
		change(d)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
		if err != nil {
			t.Fatal(err)
		}
		return []*unstructured.Unstructured{{Object: content}}
	}
	for _, row := range []struct {
		name     string
		there    []runtime.Object
		children func(t *testing.T) []*unstructured.Unstructured
		// want are the findings that are not notes or about rollouts.
		want []string
	}{
		{name: "what is rendered is taken over", children: func(t *testing.T) []*unstructured.Unstructured { return deployment(t, func(*appsv1.Deployment) {}) }},
		{name: "a box without children", children: func(*testing.T) []*unstructured.Unstructured { return nil }},
		{
			name:     "a Deployment of another owner",
			there:    []runtime.Object{webDeployment()},
			children: func(*testing.T) []*unstructured.Unstructured { return nil },
			want:     []string{"Refused: Deployment web exists and does not belong to the box"},
		},
		{
			name: "another image",
			children: func(t *testing.T) []*unstructured.Unstructured {
				return deployment(t, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:0" })
			},
			want: []string{"Disruptive: of the Deployment changes to the value of the box: its pods must be replaced"},
		},
		{
			name: "another number of pods",
			children: func(t *testing.T) []*unstructured.Unstructured {
				return deployment(t, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](4) })
			},
			want: []string{"Disruptive: of the Deployment changes from 4 to 1, unless an autoscaler sets it"},
		},
		{
			name: "a rollout",
			children: func(t *testing.T) []*unstructured.Unstructured {
				return deployment(t, func(d *appsv1.Deployment) { d.Status.Replicas = 1 })
			},
			want: []string{"Refused: Deployment web is being rolled out: wait until the rollout is complete"},
		},
		{
			name: "a selector of other pods",
			children: func(t *testing.T) []*unstructured.Unstructured {
				return deployment(t, func(d *appsv1.Deployment) {
					d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/managed-by": "operator"}}
				})
			},
			want: []string{`Refused: Deployment web has the selector "app.kubernetes.io/managed-by=operator", which does not select the pods of the box`},
		},
		{
			name: "another controller",
			children: func(t *testing.T) []*unstructured.Unstructured {
				return deployment(t, func(d *appsv1.Deployment) { d.OwnerReferences[0].UID, d.OwnerReferences[0].Kind = "other", "App" })
			},
			want: []string{"Refused: Deployment web is controlled by App web"},
		},
		{
			name: "a Deployment of another name",
			children: func(*testing.T) []*unstructured.Unstructured {
				return []*unstructured.Unstructured{child("apps/v1", "Deployment", "main")}
			},
			want: []string{"Refused: Deployment main runs pods and is not Deployment web: the server would start more pods"},
		},
		{
			name: "a StatefulSet",
			children: func(*testing.T) []*unstructured.Unstructured {
				return []*unstructured.Unstructured{child("apps/v1", "StatefulSet", "web")}
			},
			want: []string{"Refused: StatefulSet web runs pods and is not Deployment web: the server would start more pods"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(t, nil)
			box.children = row.children(t)
			f, err := newOptions(t, row.there...).clients.judge(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range f.list {
				if finding.Severity == refused || finding.Severity == disruptive {
					got = append(got, string(finding.Severity)+": "+finding.Message)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeSaysWhatBecomesOfAService(t *testing.T) {
	for _, row := range []struct {
		name string
		live corev1.ServiceSpec
		want []severity
	}{
		{"the same type", corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}, nil},
		{"a node port that the box does not ask for", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort}, []severity{disruptive}},
		{"no cluster IP", corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone}, []severity{refused}},
	} {
		t.Run(row.name, func(t *testing.T) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Service{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: row.live,
			})
			if err != nil {
				t.Fatal(err)
			}
			box := &exportedBox{Namespace: "shop", Name: "web", children: []*unstructured.Unstructured{{Object: content}}}
			f := &findings{}
			if err := f.judgeService(box, &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}}); err != nil {
				t.Fatal(err)
			}
			var got []severity
			for _, finding := range f.list {
				got = append(got, finding.Severity)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
