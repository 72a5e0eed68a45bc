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
	// ServerNamespace is where the server is installed.
	ServerNamespace = "modelbox-system"
	// ServerUser is the user as which the server authenticates to the cluster.
	ServerUser = "system:serviceaccount:modelbox-system:modelbox-apiserver"
)

// AwaitLeader returns the Lease of the controllers as soon as a server with another name than this one holds it.
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

// restartPatience is how long a server may take to answer again: before that it may have to recover its store, with tens of
// thousands of writes to a disk that others write to as well.
const restartPatience = 4 * time.Minute

// AwaitServerRestart waits until another process of the server than the former one answers.
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
