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
	// Simulated is how many there are whose pods become ready without containers.
	Simulated int
	// Container asks for one that runs containers. It needs what node.Check finds.
	// Simulated nodes beside it are tainted: pods run, unless they say otherwise.
	Container bool
	// Images is a folder with OCI archives, *.tar, of the images that the container
	// node starts with.
	Images string
}

// checkReady returns nil for a node that pods can be scheduled to.
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
