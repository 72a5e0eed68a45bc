// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/opencontainers/cgroups"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
)

// programs are the other programs of a node, by Debian package.
var programs = []struct {
	name, from string
}{
	{"containerd", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"nft", "nftables"},
	{"mount", "mount"},
}

const pluginPackage = "containernetworking-plugins"

var (
	plugins       = []string{"bridge", "host-local", "loopback"}
	pluginFolders = []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}
)

// controllers are the cgroup controllers for the limits of containers.
var controllers = []string{"cpu", "cpuset", "memory", "pids"}

// Check returns nil if a node can run on this machine, and otherwise an error that names all missing requirements.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("a container node needs root")
	}
	if missing, packages := missingPrograms(pluginFolders); len(missing) > 0 {
		return fmt.Errorf("a container node needs %s; on Debian and Ubuntu: apt-get install --no-install-recommends %s",
			strings.Join(missing, ", "), strings.Join(packages, " "))
	}
	for _, check := range []func() error{checkNamespaces, checkOverlay, checkControllers} {
		if err := check(); err != nil {
			return fmt.Errorf("a container node cannot run here: %w", err)
		}
	}
	return nil
}

func missingPrograms(pluginFolders []string) (missing, packages []string) {
	for _, program := range programs {
		if _, err := exec.LookPath(program.name); err != nil {
			missing = append(missing, program.name)
			packages = append(packages, program.from)
		}
	}
	if _, err := pluginFolder(pluginFolders); err != nil {
		missing = append(missing, "the CNI plugins "+strings.Join(plugins, ", "))
		packages = append(packages, pluginPackage)
	}
	slices.Sort(packages)
	return missing, slices.Compact(packages)
}

// pluginFolder returns the first of the candidates that has all CNI plugins.
func pluginFolder(candidates []string) (string, error) {
	for _, folder := range candidates {
		if !slices.ContainsFunc(plugins, func(plugin string) bool {
			_, err := os.Stat(filepath.Join(folder, plugin))
			return err != nil
		}) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("finding CNI plugins: %w", fs.ErrNotExist)
}

func checkNamespaces() error {
	command := exec.Command("/proc/self/exe", "--help")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: sandbox.Namespaces}
	if err := command.Run(); err != nil {
		return fmt.Errorf("starting a process in namespaces of its own: %w", err)
	}
	return nil
}

func checkOverlay() error {
	file, err := os.Open("/proc/filesystems")
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), "\toverlay") {
			return nil
		}
	}
	return errors.New("the kernel has no file system overlay; try: modprobe overlay")
}

func checkControllers() error {
	available, err := cgroups.GetAllSubsystems()
	if err != nil {
		return fmt.Errorf("listing cgroup controllers: %w", err)
	}
	for _, controller := range controllers {
		if !slices.Contains(available, controller) {
			return fmt.Errorf("there is no cgroup controller %s", controller)
		}
	}
	return nil
}
