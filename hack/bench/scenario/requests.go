// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/kro"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// requestCount is how many requests there were of boxes, Deployments and Services, by the server that counts them.
type requestCount map[string]serverRequests

type serverRequests struct {
	// started is when the process was that counts.
	started       float64
	writes, reads float64
}

// countRequests asks the API servers. Requests for boxes count at their server, and requests for custom resources and children at
// kube-apiserver. The status of a Deployment, which the controller manager writes, does not count.
func countRequests(ctx context.Context, bed *testbed.Testbed) (requestCount, error) {
	return countRequestsOf(ctx, bed, map[string][]map[string]string{
		testbed.APIServer: {
			{"group": boxes.ModelBox.GroupVersion.Group, "resource": boxes.Resource, "subresource": ""},
			{"group": boxes.ModelBox.GroupVersion.Group, "resource": boxes.Resource, "subresource": "status"},
		},
		testbed.KubeAPIServer: {
			{"group": boxes.CRD.GroupVersion.Group, "resource": boxes.Resource, "subresource": ""},
			{"group": boxes.CRD.GroupVersion.Group, "resource": boxes.Resource, "subresource": "status"},
			{"group": kro.API.GroupVersion.Group, "resource": boxes.Resource, "subresource": ""},
			{"group": kro.API.GroupVersion.Group, "resource": boxes.Resource, "subresource": "status"},
			{"group": "apps", "resource": "deployments", "subresource": ""},
			{"group": "", "resource": "services", "subresource": ""},
		},
	})
}

// countRequestsOf asks servers for the requests of several kinds, by the labels of their metric.
func countRequestsOf(ctx context.Context, bed *testbed.Testbed, asked map[string][]map[string]string) (requestCount, error) {
	count := requestCount{}
	for server, kinds := range asked {
		metrics, err := bed.Metrics(ctx, server)
		if err != nil {
			return nil, err
		}
		requests := serverRequests{started: metrics.Sum("process_start_time_seconds", nil)}
		sum := func(labels map[string]string, verbs ...string) float64 {
			total := 0.0
			for _, verb := range verbs {
				labels["verb"] = verb
				total += metrics.Sum("apiserver_request_total", labels)
			}
			return total
		}
		for _, labels := range kinds {
			requests.writes += sum(labels, "POST", "PUT", "PATCH", "APPLY", "DELETE")
			requests.reads += sum(labels, "GET", "LIST")
		}
		count[server] = requests
	}
	return count, nil
}

// since returns how many requests there were since then. A server that was restarted has counted from its start.
func (c requestCount) since(before requestCount) (writes, reads float64) {
	for server, requests := range c {
		writes, reads = writes+requests.writes, reads+requests.reads
		if former := before[server]; former.started == requests.started {
			writes, reads = writes-former.writes, reads-former.reads
		}
	}
	return writes, reads
}
