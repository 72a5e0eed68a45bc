// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxview

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func newBox(changes ...func(*model.ModelBox)) *model.ModelBox {
	box := &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: model.ModelBoxSpec{
			Name: "web", Image: "nginx:1.7.9", Workload: model.WorkloadDeployment,
			PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "web", Env: []corev1.EnvVar{{Name: "LEVEL", Value: "4"}},
			}}}},
		},
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

func render(t *testing.T, ctx context.Context, box *model.ModelBox) *corev1.PodTemplateSpec {
	t.Helper()
	template, err := PodTemplate(ctx, box)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestEqualBoxesAreRenderedOnce(t *testing.T) {
	ctx := WithPodTemplates(t.Context())
	box := newBox()
	template := render(t, ctx, box)
	for name, other := range map[string]*model.ModelBox{"the same": box, "a copy": box.DeepCopy(), "an equal one": newBox()} {
		if render(t, ctx, other) != template {
			t.Errorf("%s box is rendered again", name)
		}
	}
	if render(t, WithPodTemplates(t.Context()), box) == template {
		t.Error("another request has the template")
	}
	if first, second := render(t, t.Context(), box), render(t, t.Context(), box); first == second {
		t.Error("templates are kept without a request")
	}
}

func TestChangedBoxIsRenderedAgain(t *testing.T) {
	for name, change := range map[string]func(*model.ModelBox){
		"the image":                 func(box *model.ModelBox) { box.Spec.Image = "nginx:1.8" },
		"a variable of the overlay": func(box *model.ModelBox) { box.Spec.PodTemplate.Spec.Containers[0].Env[0].Value = "5" },
		"the name":                  func(box *model.ModelBox) { box.Name = "shop" },
		"the configs": func(box *model.ModelBox) {
			box.Spec.Configs = []model.ModelBoxConfig{{Name: "settings", MountPath: "/etc/settings", Data: map[string]string{"level": "4"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := WithPodTemplates(t.Context())
			box := newBox()
			before := render(t, ctx, box)
			change(box) // at its address
			got, want := render(t, ctx, box), render(t, t.Context(), newBox(change))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the template is outdated (-want +got):\n%s", diff)
			}
			kept := render(t, ctx, newBox())
			if kept != before {
				t.Error("the box of before is rendered again")
			}
			if diff := cmp.Diff(render(t, t.Context(), newBox()), kept); diff != "" {
				t.Errorf("the template of the box of before has changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorIsKept(t *testing.T) {
	ctx := WithPodTemplates(t.Context())
	box := newBox(func(box *model.ModelBox) {
		box.Spec.PodTemplate.Labels = map[string]string{"$patch": "bogus"}
	})
	_, first := PodTemplate(ctx, box)
	_, second := PodTemplate(ctx, box.DeepCopy())
	if first == nil || first != second {
		t.Errorf("got the errors %v and %v, want the same", first, second)
	}
}

// TestTemplatesAreLimited tries an update again and again, each time with another box.
func TestTemplatesAreLimited(t *testing.T) {
	ctx := WithPodTemplates(t.Context())
	kept := ctx.Value(podTemplatesKey).(*podTemplates)
	value := strings.Repeat("a", 1<<20)
	for i := range 10 {
		render(t, ctx, newBox(func(box *model.ModelBox) {
			box.Spec.PodTemplate.Spec.Containers[0].Env[0].Value = strconv.Itoa(i) + value
		}))
		if kept.bytes > maxBytes || len(kept.rendered) == 0 {
			t.Errorf("keeps %d bytes of %d boxes, want %d bytes at most", kept.bytes, len(kept.rendered), maxBytes)
		}
	}
}
