// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// Import imports images into the node of the cluster in a directory. Each image is an OCI archive, and keeps its name.
func Import(ctx context.Context, dir workdir.Dir, archives []string) error {
	socket, err := containerdSocket(dir)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		command := exec.CommandContext(ctx, "ctr", "--address="+socket, "--namespace=k8s.io", "images", "import", archive)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("importing the image %s: %w: %s", archive, err, bytes.TrimSpace(output))
		}
	}
	return nil
}

func (n *Node) runtimeReady(ctx context.Context) error {
	socket, err := containerdSocket(n.dir)
	if err != nil {
		return err
	}
	return probe.Unix(socket)(ctx)
}

// containerdSocket returns the path of the socket in the sandbox from outside of the sandbox.
func containerdSocket(dir workdir.Dir) (string, error) {
	content, err := os.ReadFile(dir.Run(Name + supervisor.PIDSuffix))
	if err != nil {
		return "", fmt.Errorf("finding the container node: %w", err)
	}
	return fmt.Sprintf("/proc/%s/root%s", strings.TrimSpace(string(content)), sandbox.ContainerdSocket), nil
}
