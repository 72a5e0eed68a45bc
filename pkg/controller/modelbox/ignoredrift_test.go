// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// withCPU sets what the main container may use.
func withCPU(quantity string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		fixture.MainContainer(d).Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
	}
}

func cpuOf(d *appsv1.Deployment) string {
	return fixture.MainContainer(d).Resources.Limits.Cpu().String()
}

// newIgnoringBox returns a box that says how much its main container may use, and lets others say otherwise.
func newIgnoringBox(t *testing.T) *modelv1.ModelBox {
	box := fixture.WebBox(t)
	box.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	box.Spec.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{Deployment: []string{"spec.template.spec.containers[*].resources"}}
	return box
}

func (f *testController) appliedMessage(t *testing.T) string {
	t.Helper()
	return meta.FindStatusCondition(f.boxInServer(t).Status.Conditions, modelv1.ConditionApplied).Message
}

// settle reconciles what the caches show now, without putting off what the status says.
func (f *testController) settle(t *testing.T) {
	t.Helper()
	f.catchUp(t)
	f.Pace.Forget(fixture.WebKey)
	f.mustReconcile(t)
}

func TestIgnoredDriftStays(t *testing.T) {
	f := newTestController(t, newIgnoringBox(t))
	f.converge(t)
	check(t, "CPU of a new Deployment", "1", cpuOf(f.deployment(t)))

	f.changeDeployment(t, "vpa", withCPU("3"))
	f.settle(t)
	check(t, "requests", []string{"get deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "events", []string(nil), f.told())
	check(t, "applied", "True Applied", f.status(t).applied)
	const message = `all children are up to date; ignored drift: spec.template.spec.containers[name="app"].resources.limits.cpu of Deployment web`
	check(t, "message", message, f.appliedMessage(t))

	f.settle(t)
	check(t, "requests of the second time", []string(nil), f.requests())

	f.restart()
	f.settle(t)
	check(t, "requests after a restart", []string{"get deployments web"}, f.requests())

	// A restore of another field, and an update of the box, leave the ignored field as it is.
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 77 })
	f.settle(t)
	check(t, "minReadySeconds", f.boxInServer(t).Spec.MinReadySeconds, ptr.To(f.deployment(t).Spec.MinReadySeconds))
	check(t, "CPU after a restore", "3", cpuOf(f.deployment(t)))
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image, box.Generation = "nginx:2", box.Generation+1 })
	f.settle(t)
	check(t, "image", "nginx:2", fixture.MainContainer(f.deployment(t)).Image)
	check(t, "CPU after an update", "3", cpuOf(f.deployment(t)))
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Resources.Limits[corev1.ResourceCPU], box.Generation = resource.MustParse("2"), box.Generation+1
	})
	f.settle(t)
	check(t, "CPU after an update of it", "3", cpuOf(f.deployment(t)))

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.IgnoreDrift, box.Generation = nil, box.Generation+1 })
	f.settle(t)
	check(t, "CPU of a box that ignores nothing", "2", cpuOf(f.deployment(t)))
	f.settle(t)
	check(t, "message", "all children are up to date", f.appliedMessage(t))
}

// The record of a box on its Deployment changes with the labels of the box, which the Deployment has not.
func TestIgnoredDriftStaysWhenOnlyTheRecordChanges(t *testing.T) {
	f := newTestController(t, newIgnoringBox(t))
	f.converge(t)
	f.changeDeployment(t, "vpa", withCPU("3"))
	f.settle(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Labels = map[string]string{"team": "shop"} })
	f.settle(t)
	check(t, "recorded labels", map[string]string{"team": "shop"}, f.recorded(t).Labels)
	check(t, "CPU", "3", cpuOf(f.deployment(t)))
	f.settle(t)
	check(t, "CPU after another reconcile", "3", cpuOf(f.deployment(t)))
}

// As long as no other manager has set an ignored field, the box decides about it.
func TestUpdateOfWhatIsIgnoredAndNobodyHasSet(t *testing.T) {
	f := newTestController(t, newIgnoringBox(t))
	f.converge(t)
	for _, cpu := range []string{"2", "4"} {
		f.update(t, func(box *modelv1.ModelBox) {
			box.Spec.Resources.Limits[corev1.ResourceCPU], box.Generation = resource.MustParse(cpu), box.Generation+1
		})
		f.settle(t)
		check(t, "CPU", cpu, cpuOf(f.deployment(t)))
	}
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Resources.Limits, box.Generation = nil, box.Generation+1 })
	f.settle(t)
	check(t, "CPU that the box says nothing about", "0", cpuOf(f.deployment(t)))
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		box.Generation++
	})
	f.settle(t)
	check(t, "CPU that the box says again", "1", cpuOf(f.deployment(t)))
}

// A probe that is set in place of another kind of probe leaves no room for that.
func TestIgnoredProbeOfAnotherKindStays(t *testing.T) {
	box := newIgnoringBox(t)
	box.Spec.IgnoreDrift.Deployment = []string{"spec.template.spec.containers[name=app].livenessProbe"}
	f := newTestController(t, box)
	f.converge(t)
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) {
		probe := fixture.MainContainer(d).LivenessProbe
		probe.TCPSocket, probe.HTTPGet = nil, &corev1.HTTPGetAction{Path: "/live", Port: intstr.FromInt32(80)}
	})
	f.settle(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image, box.Generation = "nginx:2", box.Generation+1 })
	f.settle(t)
	check(t, "image", "nginx:2", fixture.MainContainer(f.deployment(t)).Image)
	probe := fixture.MainContainer(f.deployment(t)).LivenessProbe
	check(t, "handlers", [2]bool{false, true}, [2]bool{probe.TCPSocket != nil, probe.HTTPGet != nil})
	check(t, "applied", "True Applied", f.status(t).applied)
}

func TestIgnoredPathThatIsNotKnownCoversNothing(t *testing.T) {
	box := newIgnoringBox(t)
	box.Spec.IgnoreDrift.Deployment = []string{"spec.ofALaterRelease"}
	f := newTestController(t, box)
	f.converge(t)
	f.changeDeployment(t, "vpa", withCPU("3"))
	f.settle(t)
	check(t, "CPU", "1", cpuOf(f.deployment(t)))
}
