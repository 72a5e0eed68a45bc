// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestMetricsCountWritesAndDrift does not run in parallel, because the metrics include the actions of other tests.
func TestMetricsCountWritesAndDrift(t *testing.T) {
	n := framework.NewNamespace(t)
	server := n.ControlPlane.DirectClient(t)
	before := framework.Scrape(t, server)
	n.CreateReadyBox(framework.NewBox("web"))
	created := framework.Scrape(t, server)
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`)
	n.Events.Await("web", "RestoredDeployment", framework.OtherManager, "image")
	restored := framework.Scrape(t, server)

	const writes, drift = "modelbox_controller_child_writes_total", "modelbox_controller_drift_restored_total"
	for _, test := range []struct {
		what          string
		metric        string
		labels        map[string]string
		before, after testutil.Metrics
		want          float64
	}{
		{"Deployments created", writes, map[string]string{"kind": "Deployment", "operation": "create"}, before, created, 1},
		{"Services created", writes, map[string]string{"kind": "Service", "operation": "create"}, before, created, 1},
		{"restored before anybody changed anything", writes, map[string]string{"operation": "restore"}, before, created, 0},
		{"Deployments restored", writes, map[string]string{"kind": "Deployment", "operation": "restore"}, created, restored, 1},
		{"Services restored", writes, map[string]string{"kind": "Service", "operation": "restore"}, created, restored, 0},
		{"drift by whom", drift, map[string]string{"kind": "Deployment", "manager": framework.OtherManager}, created, restored, 1},
		{"created by the restore", writes, map[string]string{"operation": "create"}, created, restored, 0},
	} {
		framework.ExpectEqual(t, test.what, test.want, framework.Sum(test.after, test.metric, test.labels)-framework.Sum(test.before, test.metric, test.labels))
	}
	const reconciles = "modelbox_controller_reconcile_duration_seconds_count"
	if framework.Sum(created, reconciles, nil) <= framework.Sum(before, reconciles, nil) {
		t.Error("no reconcile was timed")
	}
}

func TestMetricsCountBoxes(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.CreateBox(framework.NewBox("paused", framework.Pause))
	server := n.ControlPlane.DirectClient(t)
	n.Eventually("the server counts as many boxes as there are", func() error {
		boxes, err := n.ControlPlane.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceAll).List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		want, got := map[string]float64{"true": 0, "false": 0, "unknown": 0}, map[string]float64{}
		for _, box := range boxes.Items {
			switch condition := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady); {
			case condition == nil:
				want["unknown"]++
			case condition.Status == metav1.ConditionTrue:
				want["true"]++
			default:
				want["false"]++
			}
		}
		for _, sample := range framework.Scrape(t, server)["modelbox_controller_boxes"] {
			got[string(sample.Metric["ready"])] = float64(sample.Value)
		}
		if want["true"] < 1 || want["false"] < 1 {
			return fmt.Errorf("the metric does not include the boxes of this test yet: %v", want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// TestMetricsIncludeLibraries checks metrics that a program only has if it imports their packages.
func TestMetricsIncludeLibraries(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	metrics := framework.Scrape(t, n.ControlPlane.DirectClient(t))
	for _, test := range []struct {
		metric string
		labels map[string]string
	}{
		{"workqueue_adds_total", map[string]string{"name": "modelbox"}},
		{"rest_client_requests_total", map[string]string{"code": "200"}},
		{"leader_election_master_status", map[string]string{"name": "modelbox-controller"}},
		{"apiserver_request_total", map[string]string{"resource": "modelboxes"}},
	} {
		if framework.Sum(metrics, test.metric, test.labels) == 0 {
			t.Errorf("%s%v is missing or 0", test.metric, test.labels)
		}
	}
}
