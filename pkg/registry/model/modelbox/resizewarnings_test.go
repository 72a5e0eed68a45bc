// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// memory gives the main container a limit of memory, which is its request as well.
func memory(quantity string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}}
	}
}

func resized(mode model.ResizeMode) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Resize = &model.ModelBoxResize{Mode: mode} }
}

func TestResizeWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	inPlace, only := resized(model.ResizeInPlaceOrRestart), resized(model.ResizeInPlaceOnly)
	guaranteed := func(box *model.ModelBox) { box.Spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1") }
	restarting := func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: box.Spec.Name, ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}},
		}}}}
	}
	const qos = "the QoS class of the pods would change from Burstable to Guaranteed"
	for _, row := range []struct {
		name     string
		old, new []change
		want     []string
	}{
		{"more memory", []change{inPlace}, []change{memory("2Gi")}, []string{"resizes 2 pods in place, and restarts none"}},
		{"more memory, in place only", []change{only}, []change{memory("2Gi")}, []string{"resizes 2 pods in place, and restarts none"}},
		{"more memory and replicas", []change{inPlace}, []change{memory("2Gi"), func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) }},
			[]string{"resizes 2 pods in place, and restarts none"}},
		{"containers that restart", []change{inPlace, restarting}, []change{memory("2Gi")}, []string{"resizes 2 pods in place, and restarts container web of each"}},
		{"the mode and more memory", nil, []change{inPlace, memory("2Gi")}, []string{"resizes 2 pods in place, and restarts none"}},
		{"a paused box", []change{inPlace, func(box *model.ModelBox) { box.Spec.Paused = true }}, []change{memory("2Gi")},
			[]string{"will resize 2 pods in place when the box is unpaused, and restarts none"}},
		{"in the middle of a resize", []change{inPlace, func(box *model.ModelBox) {
			box.Status.Resize = &model.ModelBoxResizeStatus{Phase: model.ResizePhase(modelv1.ResizeInProgress)}
		}}, []change{memory("2Gi")}, []string{"resizes 2 pods in place, and restarts none"}},

		{"another QoS class", []change{inPlace}, []change{guaranteed}, []string{"rolls 2 pods" + warn.NotInPlace(qos)}},
		{"another QoS class, in place only", []change{only}, []change{guaranteed}, []string{warn.ResizesNoPod(qos)}},
		{"no memory", []change{only, guaranteed}, []change{func(box *model.ModelBox) { box.Spec.Resources = nil }},
			[]string{warn.ResizesNoPod("the QoS class of the pods would change from Guaranteed to BestEffort")}},
		{"another image", []change{inPlace}, []change{memory("2Gi"), image("nginx:2")}, []string{"rolls 2 pods"}},
		{"restarts", []change{resized(model.ResizeRestart)}, []change{memory("2Gi")}, []string{"rolls 2 pods"}},
		{"in the middle of a rollout", []change{inPlace, func(box *model.ModelBox) { box.Generation++ }}, []change{memory("2Gi")},
			[]string{"rolls up to 2 pods" + warn.UpdatedPodsStay + warn.NotInPlace(warn.RolloutInProgress)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(memory("1Gi"))
			stable(t, old)
			for _, change := range row.old {
				change(old)
			}
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			if diff := cmp.Diff(row.want, rolloutWarnings(t.Context(), box, old, ""), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDiffEffectOfResize checks the effect of the pod template of a Deployment whose pods are resized.
func TestDiffEffectOfResize(t *testing.T) {
	old := webBox(memory("1Gi"), resized(model.ResizeInPlaceOnly))
	stable(t, old)
	box := old.DeepCopy()
	memory("2Gi")(box)
	live, err := boxview.PodTemplate(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := boxview.PodTemplate(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	child := &modelv1.ModelBoxChildDiff{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: modelv1.DiffActionUpdate,
		Fields: []modelv1.ModelBoxFieldDiff{{Path: "spec.template.spec.containers"}}}
	const want = "resizes 2 pods in place, and restarts none"
	if got := DiffEffect(box, old, child, &modelboxrender.Resize{Live: live, Wanted: wanted}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
