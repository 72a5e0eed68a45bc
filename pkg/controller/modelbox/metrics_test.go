// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// measure gives the controller its own metrics and returns where to read them.
func (f *testController) measure() metrics.KubeRegistry {
	registry := metrics.NewKubeRegistry()
	f.metrics = newControllerMetrics()
	f.Metrics = f.metrics.Metrics
	f.metrics.register(registry.MustRegister, registry.CustomMustRegister)
	f.restart()
	return registry
}

// expectWrites compares the counted writes with these lines.
func expectWrites(t *testing.T, registry metrics.Gatherer, want string) {
	t.Helper()
	const metric = `# HELP modelbox_controller_child_writes_total [ALPHA] Number of successful writes of children, by the kind of the child and the operation: create, adopt, update, record (a change of the box that does not change its render), restore (of drift), reclaim (of fields that other field managers own with the same value), replace (a deletion and a creation) or prune.
# TYPE modelbox_controller_child_writes_total counter
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(metric+want), "modelbox_controller_child_writes_total"); err != nil {
		t.Error(err)
	}
}

func TestWritesAreCounted(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, f *testController)
		want   string
	}{
		{"an update", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" })
		}, `
modelbox_controller_child_writes_total{kind="Deployment",operation="update"} 1
`},
		{"a restore", func(t *testing.T, f *testController) { f.scaleBy(t, "kubectl-edit") }, `
modelbox_controller_child_writes_total{kind="Deployment",operation="restore"} 1
`},
		{"a prune", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
		}, `
modelbox_controller_child_writes_total{kind="Deployment",operation="update"} 1
modelbox_controller_child_writes_total{kind="Service",operation="prune"} 1
`},
		{"a replacement", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) {
				box.Spec.ServiceType, box.Spec.Ports[1].NodePort = modelv1.ServiceTypeHeadless, 0
			})
		}, `
modelbox_controller_child_writes_total{kind="Deployment",operation="record"} 1
modelbox_controller_child_writes_total{kind="Service",operation="replace"} 2
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t))
			f.converge(t)
			registry := f.measure()
			row.change(t, f)
			f.catchUp(t)
			f.mustReconcile(t)
			expectWrites(t, registry, row.want)
		})
	}
}

func TestCreationsAreCountedOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	registry := f.measure()
	f.converge(t)
	f.mustReconcile(t)
	expectWrites(t, registry, `
modelbox_controller_child_writes_total{kind="Deployment",operation="create"} 1
modelbox_controller_child_writes_total{kind="Service",operation="create"} 1
`)
}

// scaleBy changes the replicas of the Deployment in the name of a field manager.
func (f *testController) scaleBy(t *testing.T, manager string) {
	t.Helper()
	scaled := applyappsv1.Deployment("web", fixture.WebKey.Namespace).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(7))
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Apply(t.Context(), scaled,
		metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
		t.Fatal(err)
	}
}

func TestDriftIsCountedByWhoCausedIt(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	registry := f.measure()
	for _, manager := range []string{"helm", "kubectl-edit", "helm"} {
		f.scaleBy(t, manager)
		f.catchUp(t)
		f.mustReconcile(t)
		f.catchUp(t)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP modelbox_controller_drift_restored_total [ALPHA] Number of times that the controller restored fields of a child to the render of the box, by the kind of the child and the field manager that had changed them.
# TYPE modelbox_controller_drift_restored_total counter
modelbox_controller_drift_restored_total{kind="Deployment",manager="helm"} 2
modelbox_controller_drift_restored_total{kind="Deployment",manager="kubectl-edit"} 1
`), "modelbox_controller_drift_restored_total"); err != nil {
		t.Error(err)
	}
}

// The names and texts of metrics are read by people and programs that know Kubernetes' conventions.
func TestMetricsFollowTheConventions(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	registry := f.measure()
	f.Metrics.Objects.Show(f.ListConditions)
	f.converge(t)
	f.Queue.Add(fixture.WebKey)
	f.ReconcileNext(t.Context())
	f.scaleBy(t, "helm")
	f.catchUp(t)
	f.mustReconcile(t)

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), f.metrics.Subsystem+"_") {
			t.Errorf("%s is not named after the controller", family.GetName())
		}
		if _, err := testutil.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	if len(families) != 7 {
		t.Errorf("got %d metrics, want 7:\n%s", len(families), text.String())
	}
	problems, err := testutil.NewPromLinter(strings.NewReader(text.String())).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem.String())
	}
}
