// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// workersOfAQueue is a box of which the autoscaler starts a pod for every 10 messages in a queue.
const workersOfAQueue = `
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: web}
spec:
  image: ` + framework.Image + `
  ports: [{port: 80}]
  autoscaling:
    minReplicas: 0
    maxReplicas: 3
    metrics:
    - {type: External, external: {metric: {name: queue-messages}, target: {type: AverageValue, averageValue: "10"}}}
    behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
`

// TestAutoscalerScalesToZeroAndBack is the only test that serves the API of external metrics.
func TestAutoscalerScalesToZeroAndBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	if n.ControlPlane.IsBefore(t, "1.37") {
		n.Kubectl.RunWithInput(workersOfAQueue, "apply", "--filename=-")
		n.AwaitBox("web", "has an autoscaler that the cluster refuses", func(box *modelv1.ModelBox) error {
			return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, "")
		})
		return
	}
	messages := serveExternalMetric(n)
	n.Kubectl.RunWithInput(workersOfAQueue, "apply", "--filename=-")

	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonScaledToZero, "0 pods")
	n.AwaitPods("web", 0)
	n.ExpectConverged("web")
	messages.Store(25)
	n.AwaitPods("web", 3)
	messages.Store(0)
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonScaledToZero)

	// A change of the box starts no pods.
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonScaledToZero)
	n.AwaitPods("web", 0)
	messages.Store(5)
	n.AwaitPods("web", 1)

	// A box that a user has stopped stays stopped.
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=0")
	n.Kubectl.Run("wait", "hpa/web", `--for=jsonpath={.status.conditions[?(@.type=="ScalingActive")].reason}=ScalingDisabled`, "--timeout=4m")
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonStopped)
	n.AwaitPods("web", 0)
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=1")
	messages.Store(15)
	n.AwaitPods("web", 2)
}

// serveExternalMetric serves the same external metric to all autoscalers through the aggregation layer, and returns its value.
func serveExternalMetric(n *framework.Namespace) *atomic.Int64 {
	n.T.Helper()
	const group = "/apis/external.metrics.k8s.io/v1beta1"
	var value atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == group:
			fmt.Fprint(w, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "external.metrics.k8s.io/v1beta1", "resources": []}`)
		case strings.HasPrefix(r.URL.Path, group+"/namespaces/"):
			fmt.Fprintf(w, `{"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1", "metadata": {}, "items": [
				{"metricName": "queue-messages", "metricLabels": {}, "timestamp": "2026-01-01T00:00:00Z", "value": "%d"}]}`, value.Load())
		default:
			http.NotFound(w, r)
		}
	}))
	n.T.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		n.T.Fatal(err)
	}
	n.Kubectl.RunWithInput(fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: external-metrics}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[2]s}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: %[1]s, name: external-metrics, port: %[2]s}
`, n.Name, address.Port()), "apply", "--filename=-")
	n.Kubectl.RunAtEnd("delete", "apiservice", "v1beta1.external.metrics.k8s.io")
	n.Kubectl.Run("wait", "apiservice/v1beta1.external.metrics.k8s.io", "--for=condition=Available", "--timeout=4m")
	return &value
}
