// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
)

func (in *installation) applySample(ctx context.Context) error {
	if _, err := in.cluster.Kubectl(ctx, "apply", "--filename="+in.Sample); err != nil {
		return err
	}
	_, err := in.cluster.Kubectl(ctx, "wait", "--filename="+in.Sample,
		"--for=condition=Ready", "--timeout="+kubectlTimeout(ctx))
	return in.cluster.Supervisor.BlameOn(name, err)
}

// awaitAnswer waits until the sample responds at its node port. kube-proxy updates it some time after the pods are ready.
func (in *installation) awaitAnswer(ctx context.Context) error {
	url, err := sampleURL(ctx, in.cluster, in.Sample)
	if err != nil {
		return err
	}
	return cluster.Poll(ctx, func() error { return probe.HTTP(url)(ctx) })
}

// sampleURL returns the URL of the sample on a node that runs containers.
func sampleURL(ctx context.Context, c *cluster.Cluster, sample string) (string, error) {
	node, found := c.NodeAddress()
	if !found {
		return "", errors.New("no node runs containers")
	}
	port, err := c.Kubectl(ctx, "get", "--filename="+sample, "--output=jsonpath={.status.nodePorts[0].nodePort}")
	if err != nil {
		return "", err
	}
	if port == "" {
		return "", fmt.Errorf("%s has no node port", sample)
	}
	return "http://" + net.JoinHostPort(node.String(), port) + "/", nil
}

// Summary lists the objects of the sample.
func Summary(ctx context.Context, c *cluster.Cluster, sample string) (string, error) {
	output, err := c.Kubectl(ctx, "get", "modelboxes,deployments,services,pods")
	if err != nil {
		return "", fmt.Errorf("listing the objects of the sample: %w", err)
	}
	output = strings.TrimSpace(output)
	if _, found := c.NodeAddress(); !found {
		return output, nil
	}
	url, err := sampleURL(ctx, c, sample)
	if err != nil {
		return "", err
	}
	return output + "\n\nTry it:\n  curl " + url, nil
}
