// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// ServerNamespace is the namespace of the server.
	ServerNamespace = "modelbox-system"
	// ServerUser is the user name of the server in the cluster.
	ServerUser = "system:serviceaccount:modelbox-system:modelbox-apiserver"
)

// AwaitLeader waits until another server than the named one holds the Lease of the controllers, and returns the Lease.
func (p *ControlPlane) AwaitLeader(t *testing.T, not string) *coordinationv1.Lease {
	t.Helper()
	var lease *coordinationv1.Lease
	Eventually(t, Patience, "there is a leader", func() (err error) {
		lease, err = p.KubeClient.CoordinationV1().Leases(ServerNamespace).Get(t.Context(), "modelbox-controller", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder == "" || holder == not {
			return fmt.Errorf("%q holds the Lease", holder)
		}
		return nil
	})
	return lease
}

// restartPatience is the timeout for a server to respond again. It may have to recover its store first, with tens of thousands of
// writes to a busy disk.
const restartPatience = 4 * time.Minute

// AwaitServerRestart waits until a new process of the server responds.
func (n *Namespace) AwaitServerRestart(former int) {
	n.T.Helper()
	Eventually(n.T, restartPatience, "the server is back", func() error {
		if pid := n.ControlPlane.ServerPID(n.T); pid == former {
			return errors.New("it has no new process")
		}
		_, err := n.Boxes.List(n.Ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}
