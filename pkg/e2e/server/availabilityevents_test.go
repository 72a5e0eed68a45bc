// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"slices"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// restartAll restarts the servers one after the other, like a rollout.
func (a *availability) restartAll() time.Time {
	for _, server := range a.servers {
		a.stop(server)
		a.bringBack(server)
	}
	return time.Time{}
}

// upgradeAll restarts the servers one after the other with the program under test. Servers of another release may fail requests
// when they stop.
func (a *availability) upgradeAll() time.Time {
	for _, server := range a.servers {
		a.stop(server)
		server.Arguments[0] = framework.Binary("modelbox-apiserver")
		a.bringBack(server)
	}
	return time.Now()
}

// drainLeader stops the leader, and starts it again after a while.
func (a *availability) drainLeader() time.Time {
	leader := a.leader()
	a.stop(leader)
	a.traffic.awaitAnswers(a.n, answersBetweenEvents)
	a.bringBack(leader)
	return time.Time{}
}

// killLeader kills the leader, and starts it again after another server has become the leader.
func (a *availability) killLeader() time.Time {
	lease := a.n.ControlPlane.AwaitLeader(a.n.T, "")
	leader := a.leader()
	leader.Kill(a.n.T)
	a.service.AwaitEndpoints(a.n.T, a.but(leader)...)
	a.service.AwaitNoConnections(a.n.T, leader)
	a.traffic.awaitAnswers(a.n, answersBetweenEvents) // kube-apiserver detects that its connections are closed
	over := time.Now()
	a.n.ControlPlane.AwaitLeader(a.n.T, *lease.Spec.HolderIdentity)
	a.bringBack(leader)
	return over
}

// cutOff cuts off the last server from etcd and from the cluster until no request waits for it. Each connection to it may fail one
// request.
func (a *availability) cutOff() time.Time {
	server := a.servers[len(a.servers)-1]
	for _, link := range a.links {
		link.Cut()
	}
	a.service.AwaitEndpoints(a.n.T, a.but(server)...)
	taken := time.Now()
	a.traffic.awaitEarlier(a.n, taken)
	a.traffic.awaitAnswers(a.n, answersBetweenEvents)
	over := time.Now()
	for _, link := range a.links {
		link.Mend()
	}
	a.service.AwaitEndpoints(a.n.T, a.servers...)
	return over
}

// killEtcdLeader kills the leader of etcd, and starts it again after another member has become the leader.
func (a *availability) killEtcdLeader() time.Time {
	leads := func(member *framework.EtcdMember) bool { return member.Leads(a.n.T) }
	leader := a.etcd[slices.IndexFunc(a.etcd, leads)]
	leader.Kill(a.n.T)
	a.n.Eventually("another member of etcd leads", func() error {
		for _, member := range a.etcd {
			if member != leader && member.Leads(a.n.T) {
				return nil
			}
		}
		return errors.New("none does")
	})
	over := time.Now()
	a.traffic.awaitAnswers(a.n, answersBetweenEvents)
	leader.Start(a.n.T)
	leader.AwaitHealthy(a.n.T)
	a.service.AwaitEndpoints(a.n.T, a.servers...)
	return over
}

// killAPIServer kills kube-apiserver. The supervisor starts it again.
func (a *availability) killAPIServer() time.Time {
	a.n.ControlPlane.SignalProcess(a.n.T, "kube-apiserver", syscall.SIGKILL)
	a.n.Eventually("the cluster serves boxes again", func() error {
		_, err := a.n.Boxes.List(a.n.Ctx, metav1.ListOptions{Limit: 1})
		return err
	})
	return time.Now()
}

// stop stops a server like the deletion of its pod: the service removes the endpoint just after the signal to the server.
func (a *availability) stop(server *framework.Replica) {
	a.n.T.Helper()
	server.Terminate(a.n.T)
	a.service.Remove(server)
	server.AwaitEnd(a.n.T, shutdownDelay()+framework.Patience)
}

// but returns all servers but one.
func (a *availability) but(server *framework.Replica) []*framework.Replica {
	return slices.DeleteFunc(slices.Clone(a.servers), func(other *framework.Replica) bool { return other == server })
}

// bringBack starts a server again, and waits until the service routes to all servers.
func (a *availability) bringBack(server *framework.Replica) {
	a.n.T.Helper()
	server.Start(a.n.T)
	a.service.AwaitEndpoints(a.n.T, a.servers...)
}
