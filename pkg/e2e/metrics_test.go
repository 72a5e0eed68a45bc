// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestMetricsMove does not run in parallel: what others do is counted as well.
func TestMetricsMove(t *testing.T) {
	n := newNamespace(t)
	server := plane.directClient(t)
	before := scrape(t, server)
	n.createReady(newBox("web"))
	created := scrape(t, server)
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`)
	n.awaitEvent("web", "RestoredDeployment", somebodyElse, "image")
	restored := scrape(t, server)

	const writes, drift = "modelbox_controller_child_writes_total", "modelbox_controller_drift_restored_total"
	for _, test := range []struct {
		what          string
		metric        string
		labels        map[string]string
		before, after testutil.Metrics
		want          float64
	}{
		{"Deployments created", writes, map[string]string{"kind": "Deployment", "verb": "create"}, before, created, 1},
		{"Services created", writes, map[string]string{"kind": "Service", "verb": "create"}, before, created, 1},
		{"restored before anybody changed anything", writes, map[string]string{"verb": "restore"}, before, created, 0},
		{"Deployments restored", writes, map[string]string{"kind": "Deployment", "verb": "restore"}, created, restored, 1},
		{"Services restored", writes, map[string]string{"kind": "Service", "verb": "restore"}, created, restored, 0},
		{"drift by whom", drift, map[string]string{"kind": "Deployment", "manager": somebodyElse}, created, restored, 1},
		{"created by the restore", writes, map[string]string{"verb": "create"}, created, restored, 0},
	} {
		expectEqual(t, test.what, test.want, sum(test.after, test.metric, test.labels)-sum(test.before, test.metric, test.labels))
	}
	const reconciles = "modelbox_controller_reconcile_duration_seconds_count"
	if sum(created, reconciles, nil) <= sum(before, reconciles, nil) {
		t.Error("no reconcile was timed")
	}
}

func TestBoxesAreCounted(t *testing.T) {
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.create(newBox("paused", pause))
	server := plane.directClient(t)
	n.eventually("the server counts as many boxes as there are", func() error {
		boxes, err := plane.boxes.ModelV1().ModelBoxes(metav1.NamespaceAll).List(n.ctx, metav1.ListOptions{})
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
		for _, sample := range scrape(t, server)["modelbox_controller_boxes"] {
			got[string(sample.Metric["ready"])] = float64(sample.Value)
		}
		if want["true"] < 1 || want["false"] < 1 {
			return fmt.Errorf("the boxes of this test are not there yet: %v", want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// TestLibrariesAreMeasured is about metrics that a program only has when it imports them.
func TestLibrariesAreMeasured(t *testing.T) {
	t.Parallel()
	metrics := scrape(t, plane.directClient(t))
	for _, test := range []struct {
		metric string
		labels map[string]string
	}{
		{"workqueue_adds_total", map[string]string{"name": "modelbox"}},
		{"rest_client_requests_total", map[string]string{"code": "200"}},
		{"leader_election_master_status", map[string]string{"name": "modelbox-controller"}},
		{"apiserver_request_total", map[string]string{"resource": "modelboxes"}},
	} {
		if sum(metrics, test.metric, test.labels) == 0 {
			t.Errorf("%s%v is missing or 0", test.metric, test.labels)
		}
	}
}

// directClient is the administrator's connection to the server itself: /metrics is not part of its API group, and the
// kube-apiserver answers for its own.
func (p *controlPlane) directClient(t *testing.T) rest.Interface {
	t.Helper()
	service := p.readAPIService(t)
	config := rest.CopyConfig(p.config)
	config.Host = fmt.Sprintf("https://localhost:%d", service.Spec.Service.Port)
	config.CAFile, config.CAData = "", service.Spec.CABundle
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Discovery().RESTClient()
}

func scrape(t *testing.T, server rest.Interface) testutil.Metrics {
	t.Helper()
	text, err := server.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("reading the server's metrics: %v", err)
	}
	metrics := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(text), &metrics); err != nil {
		t.Fatalf("reading the server's metrics: %v", err)
	}
	return metrics
}

// sum adds up the series of a metric that have all of the labels.
func sum(metrics testutil.Metrics, name string, labels map[string]string) float64 {
	total := 0.0
series:
	for _, sample := range metrics[name] {
		have := map[string]string{}
		for label, value := range sample.Metric {
			have[string(label)] = string(value)
		}
		for label, value := range labels {
			if have[label] != value {
				continue series
			}
		}
		total += float64(sample.Value)
	}
	return total
}
