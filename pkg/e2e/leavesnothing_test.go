// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestContainerNodeLeavesNothing runs a container node with the sample on it, ends it in the way users do and in the worst
// one, and looks at all of the machine that a node changes.
func TestContainerNodeLeavesNothing(t *testing.T) {
	requireContainerNode(t)
	for _, test := range []struct {
		name string
		end  func(t *testing.T, supervisor *exec.Cmd, ended chan error)
	}{
		{"after down", func(*testing.T, *exec.Cmd, chan error) {}},
		{"after its supervisor was killed, and down", func(t *testing.T, supervisor *exec.Cmd, ended chan error) {
			if err := supervisor.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := machineNow(t)
			owned, err := startControlPlane(append(containerNodeFlags(), "--nodes=0", "--sample="+sample("modelbox.yaml"))...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = owned.remove() })
			p, err := connect(owned.dir)
			if err != nil {
				t.Fatal(err)
			}
			n := &namespace{t: t, ctx: t.Context(), plane: p, name: "default", services: p.kube.CoreV1().Services("default")}
			if _, err := visit(http.MethodGet, n.url("modelbox-sample", 80)); err != nil {
				t.Errorf("the sample does not answer when the start is complete: %v", err)
			}
			if during := machineNow(t); cmp.Equal(before, during) {
				t.Errorf("nothing is seen of a node that runs: %v", during)
			}

			test.end(t, owned.supervisor, owned.ended)
			if output, err := exec.Command(binary("localcluster"), "down", "--dir="+owned.dir).CombinedOutput(); err != nil {
				t.Errorf("down: %v\n%s", err, output)
			}
			eventually(t, patience, "the machine is as it was", func() error {
				left, err := processesMentioning(owned.dir)
				if err != nil {
					return err
				}
				if len(left) > 0 {
					return fmt.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
				}
				if diff := cmp.Diff(before, machineNow(t)); diff != "" {
					return errors.New(diff)
				}
				return nil
			})
			entries, err := filepath.Glob(filepath.Join(owned.dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, "files", []string{filepath.Join(owned.dir, "localcluster.lock"), owned.logs()}, entries)
		})
	}
}

// machineNow is what a machine has that a node could leave something in: by kind, a sorted list.
func machineNow(t *testing.T) map[string][]string {
	t.Helper()
	machine := map[string][]string{
		"cgroups":            glob(t, "/sys/fs/cgroup/localcluster-*", "/sys/fs/cgroup/*/localcluster-*"),
		"folders of a node":  glob(t, "/var/lib/kubelet", "/var/lib/cni/*", "/var/log/pods", "/var/log/containers", "/run/localcluster", "/run/netns/*"),
		"mounts":             lines(t, "/proc/self/mountinfo"),
		"routes":             lines(t, "/proc/net/route"),
		"network namespaces": namespaces(t, "net"),
		"mount namespaces":   namespaces(t, "mnt"),
		"PID namespaces":     namespaces(t, "pid"),
		"kernel settings":    nil,
		"nft rules":          nil,
		"interfaces":         nil,
	}
	for _, setting := range []string{"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"} {
		machine["kernel settings"] = append(machine["kernel settings"], setting+": "+lines(t, "/proc/sys/"+setting)[0])
	}
	rules, err := exec.Command("nft", "list", "ruleset").CombinedOutput()
	if err != nil {
		t.Fatalf("listing nft rules: %v: %s", err, rules)
	}
	machine["nft rules"] = strings.Split(string(rules), "\n")
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range interfaces {
		machine["interfaces"] = append(machine["interfaces"], link.Name)
	}
	return machine
}

func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, paths...)
	}
	return found
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// namespaces are those of a kind that some process is in.
func namespaces(t *testing.T, kind string) []string {
	t.Helper()
	var found []string
	for _, process := range glob(t, "/proc/[0-9]*") {
		// What cannot be read has ended meanwhile or is somebody else's.
		if link, err := os.Readlink(filepath.Join(process, "ns", kind)); err == nil {
			found = append(found, link)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
