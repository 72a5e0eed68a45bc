// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package modelbox

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/costtest"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// TestCost counts the allocations for a box that does not change, and the requests to both servers in the life of a box.
func TestCost(t *testing.T) {
	meter := costtest.NewMeter(t, "controller")
	box := costtest.Box(t)
	box.UID, box.Generation = fixture.WebUID, 1
	modelv1.SetObjectDefaults_ModelBox(box)

	meter.Allocations("render", func() {
		if _, err := modelboxrender.Children(box, modelboxrender.ScaledByBox); err != nil {
			t.Fatal(err)
		}
	})

	f := newTestController(t, box)
	meter.Requests("create", f.reconciled(t))
	f.reportProgress(t)
	meter.Requests("create, pods are not ready", f.reconciled(t))
	f.reportComplete(t)
	meter.Requests("create, pods are ready", f.reconciled(t))
	check(t, "ready", "True Ready", f.status(t).ready)

	meter.Requests("no change", f.reconciled(t))
	f.restart()
	meter.Requests("no change, after a restart", f.reconciled(t))
	box = f.boxInServer(t)
	meter.Allocations("plan without a change", func() {
		steps, _, err := f.children.Plan(box)
		if err != nil || slices.ContainsFunc(steps, func(step apply.Step) bool { return step.Operation != apply.Keep }) {
			t.Fatalf("got %v, %v", steps, err)
		}
	})
	meter.Allocations("reconcile without a change", func() { f.mustReconcile(t) })

	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Image = "registry.example.com/shop/web:1.4.3"
		box.Generation++
	})
	f.catchUp(t)
	meter.Requests("new image", f.reconciled(t))
	f.reportProgress(t)
	meter.Requests("new image, pods are not ready", f.reconciled(t))
	f.reportComplete(t)
	meter.Requests("new image, pods are ready", f.reconciled(t))
	check(t, "ready after the rollout", "True Ready", f.status(t).ready)

	if err := f.boxes.ModelV1().ModelBoxes(box.Namespace).Delete(t.Context(), box.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.boxes.ClearActions()
	if err := f.boxCache.Delete(box); err != nil {
		t.Fatal(err)
	}
	f.mustReconcile(t)
	meter.Requests("delete", f.countedRequests())
}

// reconciled reconciles the box, lets the caches catch up, and returns the requests.
func (f *testController) reconciled(t *testing.T) []string {
	t.Helper()
	f.mustReconcile(t)
	requests := f.countedRequests()
	f.catchUp(t)
	return requests
}

// countedRequests returns the requests since the caches caught up, without the names of objects: with a request for each event.
func (f *testController) countedRequests() []string {
	var counted []string
	for _, request := range f.requests() {
		words := strings.Fields(request)
		counted = append(counted, strings.Join(words[:2], " "))
	}
	for range f.told() {
		counted = append(counted, "create events")
	}
	return counted
}

// reportProgress reports that the Deployment controller has started a rollout of the current generation. An API server would have
// counted the generation.
func (f *testController) reportProgress(t *testing.T) {
	t.Helper()
	deployment := f.deployment(t)
	deployment.Generation++
	f.reportStatus(t, deployment, func(status *appsv1.DeploymentStatus) {
		status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = 1, 0, 0
		status.Conditions = status.Conditions[:1]
		status.Conditions[0].Reason = "ReplicaSetUpdated"
	})
}

// reportComplete reports that the rollout is complete.
func (f *testController) reportComplete(t *testing.T) {
	t.Helper()
	f.reportStatus(t, f.deployment(t), func(*appsv1.DeploymentStatus) {})
}

// reportStatus sets the status of the Deployment to a complete rollout with a change, and lets the caches catch up.
func (f *testController) reportStatus(t *testing.T, deployment *appsv1.Deployment, change func(*appsv1.DeploymentStatus)) {
	t.Helper()
	deployment.Status = completeDeployment().Status
	deployment.Status.ObservedGeneration = deployment.Generation
	change(&deployment.Status)
	if err := f.cluster.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("deployments"), deployment, deployment.Namespace); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
}
