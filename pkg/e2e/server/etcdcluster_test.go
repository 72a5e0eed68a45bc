// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const etcdMembers = 3

// etcdMember is one of an etcd of several, beside that of the cluster.
type etcdMember struct {
	name               string
	clientURL, peerURL string
	dir, log           string
	arguments          []string
	process            *exec.Cmd
	ended              chan error
}

// startEtcdCluster returns the members of an etcd when all of them are healthy. They are stopped when the test ends.
func startEtcdCluster(t *testing.T, p *framework.ControlPlane) []*etcdMember {
	t.Helper()
	var members []*etcdMember
	var initial []string
	for number := range etcdMembers {
		name := fmt.Sprintf("etcd-%d", number)
		member := &etcdMember{
			name:      name,
			clientURL: fmt.Sprintf("http://127.0.0.1:%d", freePort(t)),
			peerURL:   fmt.Sprintf("http://127.0.0.1:%d", freePort(t)),
			dir:       filepath.Join(p.Dir, "modelbox", name),
			log:       filepath.Join(p.Dir, "logs", name+".log"),
		}
		members = append(members, member)
		initial = append(initial, name+"="+member.peerURL)
	}
	for _, member := range members {
		member.arguments = []string{"etcd",
			"--name=" + member.name,
			"--data-dir=" + member.dir,
			"--listen-client-urls=" + member.clientURL, "--advertise-client-urls=" + member.clientURL,
			"--listen-peer-urls=" + member.peerURL, "--initial-advertise-peer-urls=" + member.peerURL,
			"--initial-cluster=" + strings.Join(initial, ","),
			"--unsafe-no-fsync", // processes are killed, the machine is not
			"--log-level=warn",
		}
		member.start(t)
	}
	t.Cleanup(func() {
		for _, member := range members {
			if member.process.Process.Kill() == nil {
				<-member.ended
			}
		}
	})
	for _, member := range members {
		member.awaitHealthy(t)
	}
	return members
}

func (m *etcdMember) start(t *testing.T) {
	t.Helper()
	m.process = exec.Command(framework.Binary("localcluster"), m.arguments...)
	var err error
	if m.ended, err = framework.StartLoggedProcess(m.process, m.log, syscall.SIGKILL); err != nil {
		t.Fatalf("starting %s: %v", m.name, err)
	}
}

// kill returns when the member is gone.
func (m *etcdMember) kill(t *testing.T) {
	t.Helper()
	if err := m.process.Process.Kill(); err != nil {
		t.Fatalf("killing %s: %v", m.name, err)
	}
	<-m.ended
}

// awaitHealthy returns when the member is one of a cluster with a leader.
func (m *etcdMember) awaitHealthy(t *testing.T) {
	t.Helper()
	framework.Eventually(t, framework.Patience, m.name+" is healthy", func() error {
		_, err := m.get(t.Context(), "/health")
		return err
	})
}

// leads tells whether the member leads the others.
func (m *etcdMember) leads(t *testing.T) bool {
	t.Helper()
	metrics, err := m.get(t.Context(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(metrics, "\netcd_server_is_leader 1\n")
}

func (m *etcdMember) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.clientURL+path, nil)
	if err != nil {
		return "", err
	}
	return framework.Answer(http.DefaultClient, request)
}
