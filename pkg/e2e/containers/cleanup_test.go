// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestContainerNodeLeavesNothingBehind runs a container node with the sample, stops it gracefully and kills it, and checks
// everything on the machine that a node changes.
func TestContainerNodeLeavesNothingBehind(t *testing.T) {
	framework.RequireContainerNode(t)
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
			cluster, err := framework.StartLocalCluster(append(framework.ContainerNodeFlags(), "--nodes=0", "--sample="+framework.Sample("modelbox.yaml"))...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cluster.Remove() })
			p, err := framework.Connect(cluster.Dir)
			if err != nil {
				t.Fatal(err)
			}
			n := p.Namespace(t, "default")
			if _, err := visit(http.MethodGet, nodePortURL(n, "modelbox-sample", 80)); err != nil {
				t.Errorf("the sample does not answer when the start is complete: %v", err)
			}
			if during := machineNow(t); cmp.Equal(before, during) {
				t.Errorf("nothing is seen of a node that runs: %v", during)
			}

			test.end(t, cluster.Supervisor, cluster.Ended)
			if output, err := exec.Command(framework.Binary("localcluster"), "down", "--dir="+cluster.Dir).CombinedOutput(); err != nil {
				t.Errorf("down: %v\n%s", err, output)
			}
			framework.Eventually(t, framework.Patience, "the machine is as it was", func() error {
				left, err := framework.ProcessesMentioning(cluster.Dir)
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
			entries, err := filepath.Glob(filepath.Join(cluster.Dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			framework.ExpectEqual(t, "files", []string{filepath.Join(cluster.Dir, "localcluster.lock"), cluster.Logs()}, entries)
		})
	}
}

// machineNow returns the state of the machine that a node could change: a sorted list for each kind.
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

// namespaces returns the namespaces of a kind that processes are in.
func namespaces(t *testing.T, kind string) []string {
	t.Helper()
	var found []string
	for _, process := range glob(t, "/proc/[0-9]*") {
		// A process that cannot be read has ended meanwhile, or belongs to another user.
		if link, err := os.Readlink(filepath.Join(process, "ns", kind)); err == nil {
			found = append(found, link)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
