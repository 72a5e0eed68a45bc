// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// syncSamples syncs the samples, with client-side and with server-side apply, and compares them in each way. Only if Argo CD itself
// predicts the result of server-side apply, it finds differences, because it does not know defaults in lists.
func syncSamples(argo *argoCD, n *framework.Namespace) {
	n.ServeNetworkAttachments()
	files := map[string]string{}
	for _, sample := range samples {
		files[sample] = readFile(n.T, framework.Sample(sample+".yaml"))
	}
	for _, test := range []struct {
		name        string
		syncOptions []string
		compare     map[string]func(*application)
	}{
		{
			name: "client-side apply",
			compare: map[string]func(*application){
				"ServerSideDiff=true":  (*application).expectNoDifferences,
				"ServerSideDiff=false": (*application).expectNoDifferences,
			},
		},
		{
			name:        "server-side apply",
			syncOptions: []string{"ServerSideApply=true"},
			compare: map[string]func(*application){
				"ServerSideDiff=true":  (*application).expectNoDifferences,
				"ServerSideDiff=false": (*application).expectDefaultsInLists,
			},
		},
	} {
		n.T.Run(test.name, func(t *testing.T) {
			n := n.ControlPlane.NewNamespace(t)
			for _, claim := range claims {
				n.CreateVolumeFor(claim)
			}
			a := argo.newApplication(n, applicationOptions{syncOptions: test.syncOptions}, files)
			a.sync()
			giveAddress(n)
			a.awaitHealthy()
			for options, expect := range test.compare {
				t.Run(options, func(t *testing.T) {
					a := a.in(n.In(t))
					a.compareWith(options)
					expect(a)
				})
			}
		})
	}
}

// syncUnhealthyBoxes syncs boxes in each state.
func syncUnhealthyBoxes(argo *argoCD, n *framework.Namespace) {
	foreign := framework.ForeignDeployment("taken")
	if _, err := n.Deployments.Create(n.Ctx, foreign, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	files := map[string]string{
		"ready":      framework.BoxManifest("ready", webSpec),
		"starting":   framework.BoxManifest("starting", webSpec+", podTemplate: {spec: {nodeSelector: {disk: none}}}"),
		"paused":     framework.BoxManifest("paused", webSpec),
		"unchanged":  framework.BoxManifest("unchanged", webSpec),
		"taken":      framework.BoxManifest("taken", webSpec),
		"ready-shop": stackManifest("ready-shop", webSpec),
		"slow-shop":  stackManifest("slow-shop", webSpec+", podTemplate: {spec: {nodeSelector: {disk: none}}}"),
	}
	a := argo.newApplication(n, applicationOptions{}, files)
	a.sync()
	for _, box := range []string{"paused", "unchanged"} {
		a.awaitResource("ModelBox", box, "Synced", "Healthy")
	}
	files["paused"] = framework.BoxManifest("paused", "image: nginx:1.8, ports: [{port: 80}], paused: true")
	files["unchanged"] = framework.BoxManifest("unchanged", webSpec+", paused: true")
	a.commit(files)
	a.sync()
	for _, want := range []struct{ kind, name, health string }{
		{"ModelBox", "ready", "Healthy"},
		{"ModelBox", "starting", "Progressing"},
		{"ModelBox", "paused", "Suspended"},
		{"ModelBox", "unchanged", "Healthy"},
		{"ModelBox", "taken", "Degraded"},
		{"ModelStack", "ready-shop", "Healthy"},
		{"ModelStack", "slow-shop", "Progressing"},
	} {
		n.T.Run(want.kind+" "+want.name+" is "+want.health, func(t *testing.T) {
			a.in(n.In(t)).awaitResource(want.kind, want.name, "Synced", want.health)
		})
	}
	a.await("is Degraded", func(status applicationStatus) error {
		if status.Health.Status != "Degraded" {
			return fmt.Errorf("it is %s", status.Health.Status)
		}
		return nil
	})
}

// showTree syncs a stack, and checks that its box, the children of the box, and their children are in the tree.
func showTree(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"shop": stackManifest("shop", webSpec)})
	a.sync()
	a.awaitHealthy()
	want := []string{
		"ModelStack", "ModelBox of ModelStack", "Deployment of ModelBox", "Service of ModelBox", "ReplicaSet of Deployment", "Pod of ReplicaSet",
	}
	n.Eventually("all objects are in the tree", func() error {
		nodes, err := argo.readTree(a.name)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, node := range nodes {
			name := node.Kind
			for _, parent := range node.ParentRefs {
				name += " of " + parent.Kind
			}
			found[name] = true
		}
		for _, name := range want {
			if !found[name] {
				return fmt.Errorf("the tree has %q, but no %s", slices.Sorted(maps.Keys(found)), name)
			}
		}
		return nil
	})
}
