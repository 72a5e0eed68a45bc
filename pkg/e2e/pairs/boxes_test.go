// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// pairsVariable is which part of the pairs is tried: one of so many, 1 for all of them.
	pairsVariable = "MODELBOX_E2E_PAIRS"
	// shortPairs is the part that is tried without it: some of each way, but for those that need a control plane of their own.
	shortPairs = 60
	// completePairs is the smallest part that leaves out no change and no way.
	completePairs = 4
)

// TestBoxes makes the changes of boxes in ways that disturb no other box.
func TestBoxes(t *testing.T) {
	t.Parallel()
	every := triedPart(t)
	n := framework.NewNamespace(t)
	serveKinds(n)
	for i := range ways {
		way := &ways[i]
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			pairs := pairsOf(way, i, every)
			run(newNamespace(t, framework.SharedControlPlane(), pairs), way, pairs)
		})
	}
}

// TestStrikes makes the changes of boxes and stacks in ways that disturb all of them, and has a control plane of its own.
func TestStrikes(t *testing.T) {
	t.Parallel()
	every := triedPart(t)
	if every == shortPairs {
		t.Skipf("%s is not set: 1 tries all pairs, %d every fourth", pairsVariable, completePairs)
	}
	control := framework.NewControlPlane(t, framework.ServerFlags(framework.QuickLease...)...)
	serveKinds(control.NewNamespace(t))
	for i := range strikes {
		way := &strikes[i]
		t.Run("boxes "+way.name, func(t *testing.T) {
			pairs := pairsOf(way, i, every)
			run(newNamespace(t, control, pairs), way, pairs)
		})
	}
	for i := range stackStrikes {
		way := &stackStrikes[i]
		t.Run("stacks "+way.name, func(t *testing.T) { run(control.NewNamespace(t), way, stackPairsOf(way, i, every)) })
	}
}

// triedPart returns which part of the pairs is tried.
func triedPart(t *testing.T) int {
	t.Helper()
	return framework.Setting(t, pairsVariable, shortPairs, strconv.Atoi)
}

// pairsOf returns the pairs of the way at the index, one of so many.
func pairsOf(way *boxWay, index, every int) []*pair {
	var pairs []*pair
	for i, change := range changes {
		isOfNewBoxes := change.isOfNewBoxes()
		if isOfNewBoxes && !(way.isOfNewOnes && !way.keepsChildren) || !isOfNewBoxes && (i+index)%every != 0 {
			continue
		}
		pairs = append(pairs, &pair{way: way, change: change, box: fmt.Sprintf("box-%d", i)})
	}
	return pairs
}

// newNamespace has what the changes of the pairs need.
func newNamespace(t *testing.T, control *framework.ControlPlane, pairs []*pair) *framework.Namespace {
	t.Helper()
	n := control.NewNamespace(t)
	volumes := 0
	for _, p := range pairs {
		before, after := p.change.specs(p.box, n.Name)
		volumes += 3 * (len(before.Storage) + len(after.Storage)) // which may go and come again
	}
	n.CreateVolumes(volumes, true)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: accountName}}
	if _, err := control.KubeClient.CoreV1().ServiceAccounts(n.Name).Create(n.Ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	network := &modelv1.Network{ObjectMeta: metav1.ObjectMeta{Name: networkName}, Spec: modelv1.NetworkSpec{CIDR: "10.10.0.0/16", Gateway: "10.10.0.1"}}
	if _, err := n.Networks().Create(n.Ctx, network, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return n
}

// serveKinds installs the kinds of children that the cluster does not have.
func serveKinds(n *framework.Namespace) {
	n.T.Helper()
	n.ServeNetworkAttachments()
	for _, resource := range []string{"httproutes", "grpcroutes"} {
		definition := framework.InModule(n.T, ".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_"+resource+".yaml")
		n.Kubectl.Run("create", "--filename="+definition)
		n.Kubectl.RunAtEnd("delete", "--ignore-not-found", "--filename="+definition)
	}
}
