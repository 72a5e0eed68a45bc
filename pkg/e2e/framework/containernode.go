// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os/exec"
	"strings"
	"testing"
)

// RequireContainerNode skips the test if the machine cannot run a container node.
func RequireContainerNode(t *testing.T) {
	t.Helper()
	if output, err := exec.Command(Binary("localcluster"), "check").CombinedOutput(); err != nil {
		t.Skip(strings.TrimSpace(string(output)))
	}
}

// ContainerNodeFlags returns the flags of localcluster for a container node beside the simulated ones.
func ContainerNodeFlags() []string {
	return []string{"--container-node", "--images=" + NodeImages()}
}

// NodeImages returns the directory of the images that a container node imports at its start.
func NodeImages() string { return InRepository("_output", "images", "node") }
