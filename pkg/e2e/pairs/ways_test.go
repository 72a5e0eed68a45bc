// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"os"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// boxWay is a way to change boxes.
type boxWay = way[*pair]

// ways are the ways to change boxes that do not disturb other boxes.
var ways = []boxWay{
	{name: "rolled back", change: func(p *pair) {
		p.set(p.after, newerImage)
		p.awaitReady()
		p.rollBack()
	}, replacesPods: true},
	{name: "rolled back while it is stuck", change: func(p *pair) {
		p.set(p.after, framework.Unschedulable)
		p.awaitObserved()
		p.rollBack()
	}, isUnfinished: true, getsStuck: true},
	{name: "taken back while it is stuck", change: func(p *pair) {
		p.set(p.after, framework.Unschedulable)
		p.awaitObserved()
		p.set(p.earlier())
	}, isUnfinished: true, getsStuck: true},
	{name: "corrected while it is stuck", change: func(p *pair) {
		p.set(p.after, framework.Unschedulable)
		p.awaitObserved()
		p.set(p.after)
	}, getsStuck: true},
	{name: "taken back at once", change: func(p *pair) {
		p.set(p.after)
		p.set(p.earlier())
	}},
	{name: "made during a pause", change: func(p *pair) {
		p.set(p.after, framework.Pause)
		p.awaitObserved()
		p.set(p.after)
	}},
	{name: "taken back during a pause", change: func(p *pair) {
		p.set(p.after, framework.Pause)
		p.awaitObserved()
		p.set(p.earlier(), framework.Pause)
		p.awaitObserved()
		p.set(p.earlier())
	}, isUnfinished: true},
	{name: "of a box that is deleted during a pause", change: func(p *pair) {
		p.set(p.possible(), framework.Pause)
		p.awaitObserved()
		p.deleteBox(metav1.DeletePropagationBackground)
		p.createBox(p.after, nil)
	}, isOfNewOnes: true},
	{name: "while its children are deleted", change: func(p *pair) {
		p.set(p.after)
		p.awaitReleased()
		p.deleteChildren()
	}, deletesChildren: true, replacesPods: true},
	{name: "of a box that is recreated", change: func(p *pair) {
		p.deleteBox(metav1.DeletePropagationBackground)
		p.createBox(p.after, nil)
	}, isOfNewOnes: true},
	{name: "of a box that adopts orphans", change: func(p *pair) {
		p.deleteBox(metav1.DeletePropagationOrphan)
		p.createBox(p.before, map[string]string{modelv1.AdoptAnnotation: "true"})
		p.awaitReady()
		p.set(p.after)
	}, isOfNewOnes: true, keepsChildren: true},
	{name: "while workloads are denied", prepare: deny("deployments", "statefulsets", "daemonsets"), change: changeInVain},
	{name: "while all but workloads is denied", change: changeInVain,
		prepare: deny("services", "configmaps", "persistentvolumeclaims", "ingresses", "httproutes", "grpcroutes", "horizontalpodautoscalers", "poddisruptionbudgets", "networkpolicies")},
	{name: "while deletions of pods and claims are denied", prepare: deny("pods", "persistentvolumeclaims"), change: changeInVain},
	{name: "denied and taken back", prepare: deny("*"), change: func(p *pair) {
		changeInVain(p)
		p.set(p.earlier())
	}, isUnfinished: true},
}

// strikes are ways that disturb the server of all boxes.
var strikes = []boxWay{
	{name: "before the server is killed", change: makeChange, strike: signalServer(syscall.SIGKILL)},
	{name: "before the server is restarted", change: makeChange, strike: signalServer(syscall.SIGTERM)},
	{name: "before the store is lost", change: func(p *pair) {
		p.set(p.after)
		p.awaitReady()
	}, strike: loseStore},
	{name: "rolled back after the store is lost", change: func(p *pair) {
		p.set(p.after, newerImage)
		p.awaitReady()
	}, strike: loseStore, takeBack: (*pair).rollBack, replacesPods: true},
}

// makeChange makes the change without a disturbance.
func makeChange(p *pair) { p.set(p.after) }

// newerImage replaces the pods, so that there is a revision to roll back to.
func newerImage(spec *modelv1.ModelBoxSpec) { spec.Image = "nginx:1.9" }

func deny(resources ...string) func(*framework.Namespace) func() {
	return func(n *framework.Namespace) func() { return n.DenyServer(resources...) }
}

// changeInVain makes the change, and waits until the status reports that it is not applied if its writes are denied.
func changeInVain(p *pair) {
	p.set(p.after)
	p.await("is Ready, or not applied", func(box *modelv1.ModelBox) error {
		if framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, "") == nil {
			return nil
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}

func signalServer(signal syscall.Signal) func(*framework.Namespace) {
	return func(n *framework.Namespace) {
		n.T.Helper()
		pid := n.ControlPlane.ServerPID(n.T)
		n.ControlPlane.SignalServer(n.T, signal)
		n.AwaitServerRestart(pid)
	}
}

// loseStore loses the store of the server, which then recovers all boxes from their records.
func loseStore(n *framework.Namespace) {
	n.T.Helper()
	n.AwaitServerRestart(n.ControlPlane.KillFrozenServer(n.T, func() {
		if err := os.RemoveAll(n.ControlPlane.ServerDataDir()); err != nil {
			n.T.Fatal(err)
		}
	}))
}
