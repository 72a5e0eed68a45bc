// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ProgramCommand returns a command of a program beside the server, as administrator of the control plane. It ignores settings in the
// environment.
func (p *ControlPlane) ProgramCommand(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, Binary(program), arguments...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KUBE") || strings.HasPrefix(variable, "HELM") || strings.HasPrefix(variable, "XDG")
	})
	command.Env = append(command.Env, "KUBECONFIG="+p.Kubeconfig(), "HOME="+filepath.Join(p.Dir, "run", "home"))
	return command
}
