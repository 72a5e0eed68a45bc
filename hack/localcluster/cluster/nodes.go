// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Nodes are the nodes of a cluster.
type Nodes struct {
	// Simulated is the number of nodes whose pods become ready without containers.
	Simulated int
	// Container adds a node that runs containers. It has the requirements of node.Check. The simulated nodes are then tainted, so
	// that pods run on the container node by default.
	Container bool
	// Images is a directory with OCI archives, *.tar, of images for the container node.
	Images string
}

// checkReady returns nil if pods can be scheduled to the node.
func checkReady(node *corev1.Node) error {
	for _, taint := range node.Spec.Taints {
		if strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			return fmt.Errorf("node %s has the taint %s", node.Name, taint.Key)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("node %s is not ready: %s", node.Name, condition.Message)
		}
		return nil
	}
	return fmt.Errorf("node %s is not ready", node.Name)
}
