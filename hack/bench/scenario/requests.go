// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/ground"
)

// requestCount is how many requests there were of boxes, Deployments and Services.
type requestCount struct{ writes, reads float64 }

// countRequests asks the API servers. Those of boxes count where they are served, those of custom resources and children at
// kube-apiserver. What the controller manager writes as the status of a Deployment does not count.
func countRequests(ctx context.Context, g *ground.Ground) (*requestCount, error) {
	count := &requestCount{}
	for server, kinds := range map[string][]map[string]string{
		ground.APIServer: {
			{"group": boxes.ModelBox.GroupVersion.Group, "resource": boxes.Resource, "subresource": ""},
			{"group": boxes.ModelBox.GroupVersion.Group, "resource": boxes.Resource, "subresource": "status"},
		},
		ground.KubeAPIServer: {
			{"group": boxes.CRD.GroupVersion.Group, "resource": boxes.Resource, "subresource": ""},
			{"group": boxes.CRD.GroupVersion.Group, "resource": boxes.Resource, "subresource": "status"},
			{"group": "apps", "resource": "deployments", "subresource": ""},
			{"group": "", "resource": "services", "subresource": ""},
		},
	} {
		metrics, err := g.Metrics(ctx, server)
		if err != nil {
			return nil, err
		}
		for _, labels := range kinds {
			for _, verb := range []string{"POST", "PUT", "PATCH", "APPLY"} {
				labels["verb"] = verb
				count.writes += metrics.Sum("apiserver_request_total", labels)
			}
			labels["verb"] = "GET"
			count.reads += metrics.Sum("apiserver_request_total", labels)
		}
	}
	return count, nil
}
