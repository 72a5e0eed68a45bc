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

// hostVariable is the environment variable with the programs of another version of Kubernetes for control planes of tests.
const hostVariable = "MODELBOX_E2E_HOST_BINARY"

// hostFlags returns the flags of localcluster for the version of Kubernetes of control planes of tests.
func hostFlags() []string {
	if binary := os.Getenv(hostVariable); binary != "" {
		return []string{"--host-binary=" + InRepository(binary)}
	}
	return nil
}

// HostCluster returns the host cluster of the control plane.
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

// IsBefore returns whether the cluster of the control plane has an earlier version, such as before "1.34". Tests need it for
// behaviour that changed without a new field.
func (p *ControlPlane) IsBefore(t *testing.T, earlier string) bool {
	t.Helper()
	return version.MustParseGeneric(p.HostCluster(t).Version()).LessThan(version.MustParseGeneric(earlier))
}
