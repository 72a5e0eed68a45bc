// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// pairsVariable is which part of the pairs is tried: every one of so many. Without it, none is: they take longer than all
	// other tests.
	pairsVariable = "MODELBOX_E2E_PAIRS"
	// shortPairs is the largest part that leaves out no change and no way.
	shortPairs = 4

	// volumes are enough for the storage of all changes in one way, which may go and come again.
	volumes = 60
)

// TestEveryFieldIsChanged fails for a field of boxes that no change is of.
func TestEveryFieldIsChanged(t *testing.T) {
	t.Parallel()
	changed := sets.New[string]()
	for _, change := range changes {
		before, after := change.specs("box", "class")
		for _, field := range reflect.VisibleFields(reflect.TypeFor[modelv1.ModelBoxSpec]()) {
			if !reflect.DeepEqual(reflect.ValueOf(before).FieldByIndex(field.Index).Interface(), reflect.ValueOf(after).FieldByIndex(field.Index).Interface()) {
				changed.Insert(field.Name)
			}
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[modelv1.ModelBoxSpec]()) {
		_, isExempt := unchanged[field.Name]
		if isExempt == changed.Has(field.Name) {
			t.Errorf("field %s: it is in a change: %t, and exempt: %t", field.Name, changed.Has(field.Name), isExempt)
		}
	}
}

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
			run(newNamespace(t, framework.SharedControlPlane()), way, pairsOf(way, i, every))
		})
	}
}

// TestStrikes makes the changes of boxes and stacks in ways that disturb all of them, and has a control plane of its own.
func TestStrikes(t *testing.T) {
	t.Parallel()
	every := triedPart(t)
	control := framework.NewControlPlane(t, framework.ServerFlags(framework.QuickLease...)...)
	serveKinds(control.NewNamespace(t))
	for i := range strikes {
		way := &strikes[i]
		t.Run("boxes "+way.name, func(t *testing.T) { run(newNamespace(t, control), way, pairsOf(way, i, every)) })
	}
	for i := range stackStrikes {
		way := &stackStrikes[i]
		t.Run("stacks "+way.name, func(t *testing.T) { run(control.NewNamespace(t), way, stackPairsOf(way, i, every)) })
	}
}

// TestEveryChangeAndWayIsTried checks that a part of the pairs leaves out no change and no way.
func TestEveryChangeAndWayIsTried(t *testing.T) {
	t.Parallel()
	tried := sets.New[string]()
	for _, ways := range [][]boxWay{ways, strikes} {
		for i := range ways {
			for _, p := range pairsOf(&ways[i], i, shortPairs) {
				tried.Insert("way "+ways[i].name, "change of "+p.change.name)
			}
		}
	}
	for _, ways := range [][]stackWay{stackWays, stackStrikes} {
		for i := range ways {
			for _, p := range stackPairsOf(&ways[i], i, shortPairs) {
				tried.Insert("way of stacks "+ways[i].name, "change of stacks "+p.change.name)
			}
		}
	}
	if want := len(changes) + len(ways) + len(strikes) + len(stackChanges) + len(stackWays) + len(stackStrikes); len(tried) != want {
		t.Errorf("%d of %d are tried: %q", len(tried), want, sets.List(tried))
	}
}

// triedPart returns which part of the pairs is tried, and skips the test where none is.
func triedPart(t *testing.T) int {
	t.Helper()
	every := framework.Setting(t, pairsVariable, 0, strconv.Atoi)
	if every == 0 {
		t.Skipf("%s is not set: 1 tries all pairs, %d every fourth", pairsVariable, shortPairs)
	}
	return every
}

// pairsOf returns those of the way at that index, one of so many.
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

// newNamespace has what the changes need.
func newNamespace(t *testing.T, control *framework.ControlPlane) *framework.Namespace {
	t.Helper()
	n := control.NewNamespace(t)
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

// serveKinds lets the cluster serve the kinds that boxes may become and that it does not serve by itself.
func serveKinds(n *framework.Namespace) {
	n.T.Helper()
	n.ServeNetworkAttachments()
	definition := framework.InModule(n.T, ".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml")
	n.Kubectl.Run("create", "--filename="+definition)
	n.Kubectl.RunAtEnd("delete", "--ignore-not-found", "--filename="+definition)
}
