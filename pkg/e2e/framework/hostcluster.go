// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

// hostVariable names the program of another Kubernetes, which control planes are then of that tests start.
const hostVariable = "MODELBOX_E2E_HOST_BINARY"

// hostFlags are the flags of localcluster for the Kubernetes that the control planes of tests are of.
func hostFlags() []string {
	if binary := os.Getenv(hostVariable); binary != "" {
		return []string{"--host-binary=" + InRepository(binary)}
	}
	return nil
}

// HostCluster returns what the cluster of the control plane knows.
func (p *ControlPlane) HostCluster(t *testing.T) *hostcluster.Cluster {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(p.Config)
	if err != nil {
		t.Fatal(err)
	}
	cluster := hostcluster.New(client, clock.RealClock{})
	if err := cluster.Refresh(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return cluster
}

// IsBefore returns whether the cluster of the control plane is of an earlier version than that, such as "1.34". What came with
// a version without a field of its own, or was turned on by default, nothing else tells.
func (p *ControlPlane) IsBefore(t *testing.T, earlier string) bool {
	t.Helper()
	return version.MustParseGeneric(p.HostCluster(t).Version()).LessThan(version.MustParseGeneric(earlier))
}
