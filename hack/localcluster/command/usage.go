// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// stackSample is a larger application than the default sample of a cluster.
const stackSample = "dataservice.yaml"

// howToUse returns the next commands for the user, for the working directory of the user.
func howToUse(dir workdir.Dir, sample string) string {
	self := "localcluster"
	kubectl := program.Kubectl
	if binary, err := os.Executable(); err == nil {
		self = shortPath(binary)
		kubectl = shortPath(filepath.Join(filepath.Dir(binary), program.Kubectl))
	}
	try := "get nodes"
	if stack := filepath.Join(filepath.Dir(sample), stackSample); sample != "" && exists(stack) {
		try = "apply --filename=" + shortPath(stack) + "   (an application of twelve components)"
	}
	return fmt.Sprintf(`
Use it:
  export KUBECONFIG=%s
  %s %s
Stop it:
  %s down --dir %s   (or Ctrl-C where it runs in the foreground)
Logs:
  %s`, dir.Kubeconfig(), kubectl, try, self, shortPath(string(dir)), shortPath(dir.Logs()))
}

// shortPath returns the path relative to the working directory if that is shorter.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || len(relative) > len(path) {
		return path
	}
	return relative
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
