// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// autoscalerOf returns an autoscaler of what has the name of webBox.
func autoscalerOf(apiVersion, kind string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "by-load", Namespace: fixture.WebKey.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: "web"},
		},
	}
}

func TestScaling(t *testing.T) {
	ofDeployment := autoscalerOf("apps/v1", "Deployment")
	live := func(replicas int32, leftAt string) *appsv1.Deployment {
		return fixture.LiveDeployment(t, func(d *appsv1.Deployment) {
			d.Spec.Replicas = &replicas
			if leftAt != "" {
				d.Annotations[modelv1.AutoscaledAnnotation] = leftAt
			}
		})
	}
	for _, row := range []struct {
		name       string
		replicas   int32
		live       *appsv1.Deployment
		autoscaler *autoscalingv2.HorizontalPodAutoscaler
		want       modelboxrender.Scaling
	}{
		{"without an autoscaler the box decides", 2, live(2, ""), nil, modelboxrender.ScaledByBox},
		{"what there is not yet gets the number of the box", 2, nil, ofDeployment, modelboxrender.ScaledByBox},
		{"an autoscaler of the Deployment decides", 2, live(2, ""), ofDeployment, modelboxrender.ScaledByAutoscaler(2)},
		{"an autoscaler of the box leaves it to the box", 2, live(2, ""), autoscalerOf("model.github.com/v1", "ModelBox"), modelboxrender.ScaledByBox},
		{"an autoscaler of another kind of the name has no say", 2, live(2, ""), autoscalerOf("example.com/v1", "Deployment"), modelboxrender.ScaledByBox},
		{"it still decides when the box asks for another number", 3, live(7, "2"), ofDeployment, modelboxrender.ScaledByAutoscaler(7)},
		{"when it has gone, its number stays", 2, live(7, "2"), nil, modelboxrender.ScaledByAutoscaler(7)},
		{"until the box asks for another one", 3, live(7, "2"), nil, modelboxrender.ScaledByBox},
		{"a box is stopped all the same", 0, live(7, "2"), ofDeployment, modelboxrender.ScaledByBox},
		{"and started again", 2, live(0, ""), ofDeployment, modelboxrender.ScaledByBox},
		{"one that the autoscaler stopped stays stopped", 2, live(0, "2"), ofDeployment, modelboxrender.ScaledByAutoscaler(0)},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Replicas = &row.replicas })
			f := newTestController(t, box)
			if row.autoscaler != nil {
				f.cache(t, row.autoscaler)
			}
			if row.live != nil {
				f.cache(t, row.live)
			}
			check(t, "scaled by", row.want, f.scaling(t, box))
		})
	}
}

// scaling returns what decides the number of pods of the box.
func (f *testController) scaling(t *testing.T, box *modelv1.ModelBox) modelboxrender.Scaling {
	t.Helper()
	live, err := f.liveBeside(box, f.children.Live(box))
	if err != nil {
		t.Fatal(err)
	}
	return modelboxrender.ScalingBeside(box, live)
}

func TestReplicasAreHandedOverToAnAutoscalerAndBack(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)

	f.cache(t, autoscalerOf("apps/v1", "Deployment"))
	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "patch deployments web"}, f.requests())
	check(t, "replicas that are handed over", ptr.To[int32](2), f.deployment(t).Spec.Replicas)
	check(t, "box's replicas that do not count", "2", f.deployment(t).Annotations[modelv1.AutoscaledAnnotation])
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests when all is as it should be", []string(nil), f.requests())

	f.scaleDeployment(t, 7)
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests after the autoscaler's", []string(nil), f.requests())

	if err := f.autoscalers.Delete(autoscalerOf("apps/v1", "Deployment")); err != nil {
		t.Fatal(err)
	}
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "replicas after the autoscaler has gone", ptr.To[int32](7), f.deployment(t).Spec.Replicas)

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "replicas after the box asked for another number", ptr.To[int32](5), f.deployment(t).Spec.Replicas)
	check(t, "annotation", "", f.deployment(t).Annotations[modelv1.AutoscaledAnnotation])
}

// The number of pods that an update may take away depends only on whether there is one pod or several.
func TestMaxUnavailableFollowsTheAutoscaler(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.RollingUpdate = modelv1.NewRollingUpdate(intstr.FromInt32(1)) }))
	f.converge(t)
	f.cache(t, autoscalerOf("apps/v1", "Deployment"))
	f.converge(t) // which hands the replicas over
	for _, step := range []struct {
		replicas    int32
		writes      int
		unavailable intstr.IntOrString
	}{
		{3, 0, intstr.FromInt32(1)},
		{5, 0, intstr.FromInt32(1)},
		{1, 1, intstr.FromInt32(0)},
		{0, 0, intstr.FromInt32(0)},
		{1, 0, intstr.FromInt32(0)},
		{2, 1, intstr.FromInt32(1)},
	} {
		f.scaleDeployment(t, step.replicas)
		f.catchUp(t)
		f.mustReconcile(t)
		writes := slices.DeleteFunc(f.requests(), func(request string) bool { return request != "patch deployments web" })
		check(t, fmt.Sprintf("writes of the Deployment at %d", step.replicas), step.writes, len(writes))
		check(t, fmt.Sprintf("maxUnavailable at %d", step.replicas), &step.unavailable, f.deployment(t).Spec.Strategy.RollingUpdate.MaxUnavailable)
		check(t, "replicas", &step.replicas, f.deployment(t).Spec.Replicas)
	}
}

// scaleDeployment is what an autoscaler does.
func (f *testController) scaleDeployment(t *testing.T, replicas int32) {
	t.Helper()
	configuration := applyappsv1.Deployment("web", fixture.WebKey.Namespace).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(replicas))
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Apply(t.Context(), configuration,
		metav1.ApplyOptions{FieldManager: "kube-controller-manager", Force: true}); err != nil {
		t.Fatal(err)
	}
}
