// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// ImportCommand returns the command that gives images to the node of the cluster in
// that directory. Its last argument is yet to be added: an OCI archive, which also
// names the image.
func ImportCommand(dir workdir.Dir) (ctr string, args []string, err error) {
	socket, err := containerdSocket(dir)
	if err != nil {
		return "", nil, err
	}
	return "ctr", []string{"--address=" + socket, "--namespace=k8s.io", "images", "import"}, nil
}

func (n *Node) runtimeReady(ctx context.Context) error {
	socket, err := containerdSocket(n.dir)
	if err != nil {
		return err
	}
	return probe.Unix(socket)(ctx)
}

// containerdSocket is the socket in the sandbox, as it is seen from outside.
func containerdSocket(dir workdir.Dir) (string, error) {
	content, err := os.ReadFile(dir.Run(Name + supervisor.PIDSuffix))
	if err != nil {
		return "", fmt.Errorf("finding the container node: %w", err)
	}
	return fmt.Sprintf("/proc/%s/root%s", strings.TrimSpace(string(content)), sandbox.ContainerdSocket), nil
}
