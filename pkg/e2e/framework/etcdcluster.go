// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/component-base/metrics/testutil"
)

const etcdMembers = 3

// EtcdMember is a member of a separate etcd cluster.
type EtcdMember struct {
	Name, ClientURL, PeerURL string
	// Dir is the data directory. It does not exist before the start.
	Dir string
	// Program is the path of etcd. If it is empty, the member runs the etcd of the control plane.
	Program string

	log       string
	arguments []string
	process   *exec.Cmd
	ended     chan error
}

// StartEtcdCluster starts a new etcd cluster, waits until all members are healthy, and returns them. They are stopped at the end of
// the test.
func StartEtcdCluster(t *testing.T, p *ControlPlane) []*EtcdMember {
	t.Helper()
	members := NewEtcdCluster(t, p)
	StartEtcdMembers(t, members)
	return members
}

// NewEtcdCluster returns the members of an etcd cluster without starting them. They are stopped at the end of the test.
func NewEtcdCluster(t *testing.T, p *ControlPlane) []*EtcdMember {
	t.Helper()
	var members []*EtcdMember
	for number := range etcdMembers {
		name := fmt.Sprintf("etcd-%d", number)
		members = append(members, &EtcdMember{
			Name:      name,
			ClientURL: fmt.Sprintf("http://127.0.0.1:%d", FreePort(t)),
			PeerURL:   fmt.Sprintf("http://127.0.0.1:%d", FreePort(t)),
			Dir:       filepath.Join(p.Dir, "modelbox", name),
			log:       filepath.Join(p.Dir, "logs", name+".log"),
		})
	}
	for _, member := range members {
		member.arguments = []string{
			"--name=" + member.Name,
			"--data-dir=" + member.Dir,
			"--listen-client-urls=" + member.ClientURL, "--advertise-client-urls=" + member.ClientURL,
			"--listen-peer-urls=" + member.PeerURL, "--initial-advertise-peer-urls=" + member.PeerURL,
			"--initial-cluster=" + InitialCluster(members),
			"--unsafe-no-fsync", // processes are killed, the machine is not
			"--log-level=warn",
		}
	}
	t.Cleanup(func() {
		for _, member := range members {
			if member.process != nil && member.process.Process.Kill() == nil {
				<-member.ended
			}
		}
	})
	return members
}

// InitialCluster returns the value of --initial-cluster of the members of an etcd cluster.
func InitialCluster(members []*EtcdMember) string {
	var peers []string
	for _, member := range members {
		peers = append(peers, member.Name+"="+member.PeerURL)
	}
	return strings.Join(peers, ",")
}

// ClientURLs returns the client URLs of the members of an etcd cluster, as a value of --etcd-servers.
func ClientURLs(members []*EtcdMember) string {
	var urls []string
	for _, member := range members {
		urls = append(urls, member.ClientURL)
	}
	return strings.Join(urls, ",")
}

// StartEtcdMembers starts all members and waits until they are healthy.
func StartEtcdMembers(t *testing.T, members []*EtcdMember) {
	t.Helper()
	for _, member := range members {
		member.Start(t)
	}
	for _, member := range members {
		member.AwaitHealthy(t)
	}
}

// Start starts the process of the member.
func (m *EtcdMember) Start(t *testing.T) {
	t.Helper()
	m.process = exec.Command(Binary("localcluster"), append([]string{"etcd"}, m.arguments...)...)
	if m.Program != "" {
		m.process = exec.Command(m.Program, m.arguments...)
	}
	var err error
	if m.ended, err = StartLoggedProcess(m.process, m.log, syscall.SIGKILL); err != nil {
		t.Fatalf("starting %s: %v", m.Name, err)
	}
}

// PID returns the process ID of the member, which must have started.
func (m *EtcdMember) PID() int { return m.process.Process.Pid }

// Kill kills the process of the member and waits until it has ended.
func (m *EtcdMember) Kill(t *testing.T) {
	t.Helper()
	if err := m.process.Process.Kill(); err != nil {
		t.Fatalf("killing %s: %v", m.Name, err)
	}
	<-m.ended
}

// AwaitHealthy waits until the member is healthy, with a leader.
func (m *EtcdMember) AwaitHealthy(t *testing.T) {
	t.Helper()
	Eventually(t, Patience, m.Name+" is healthy", func() error {
		_, err := m.get(t.Context(), "/health")
		return err
	})
}

// Leads returns whether the member is the leader of the etcd cluster.
func (m *EtcdMember) Leads(t *testing.T) bool {
	t.Helper()
	return Sum(m.Scrape(t), "etcd_server_is_leader", nil) == 1
}

// Scrape returns the current metrics of the member.
func (m *EtcdMember) Scrape(t *testing.T) testutil.Metrics {
	t.Helper()
	text, err := m.get(t.Context(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	return parseMetrics(t, text)
}

func (m *EtcdMember) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.ClientURL+path, nil)
	if err != nil {
		return "", err
	}
	return Answer(http.DefaultClient, request)
}
