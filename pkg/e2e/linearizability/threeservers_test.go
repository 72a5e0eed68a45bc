// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// shortLoadOfServers is shorter than shortLoad, because each disruption is made at least once.
const shortLoadOfServers = 10 * time.Second

// servers are three servers behind one address, and their etcd of three members.
type servers struct {
	replicas []*framework.Replica
	members  []*framework.EtcdMember
	// links are the connections of the last server to etcd.
	links []*framework.Link
}

// TestHistoriesOfThreeServersAreLinearizable is like TestHistoriesAreLinearizable for three servers. Each client uses one of them, or the
// aggregation layer, which uses all of them.
func TestHistoriesOfThreeServersAreLinearizable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this needs a control plane")
	}
	// The server of the control plane is not one of them.
	p := framework.NewControlPlane(t, framework.ServerFlags(append(framework.ExternalEtcd, "--controllers=-modelbox")...)...)
	three := &servers{members: framework.StartEtcdCluster(t, p)}
	s := &system{ControlPlane: p, etcd: etcd{prefix: "/modelbox/model.github.com/"}, disruptions: three.disruptions()}
	var linked []string
	for _, member := range three.members {
		link := framework.NewLink(t, member.ClientURL)
		three.links, linked = append(three.links, link), append(linked, link.URL())
		s.etcd.endpoints = append(s.etcd.endpoints, member.ClientURL)
	}
	balancer := framework.NewBalancer(t)
	for _, server := range []struct {
		name string
		etcd []string
	}{{"one", s.etcd.endpoints}, {"two", s.etcd.endpoints}, {"three", linked}} {
		replica := framework.NewReplica(t, p, server.name, "", "--etcd-servers="+strings.Join(server.etcd, ","), "--controllers=-modelbox")
		replica.Start(t)
		three.replicas = append(three.replicas, replica)
		s.direct = append(s.direct, p.DirectClientAt(t, replica.Port))
	}
	ctx, stop := context.WithCancel(t.Context())
	var probing sync.WaitGroup
	t.Cleanup(probing.Wait)
	t.Cleanup(stop)
	probing.Go(func() { balancer.Probe(ctx, three.replicas...) })
	balancer.AwaitEndpoints(t, three.replicas...)
	framework.LeadTo(t, p, balancer, three.replicas)
	s.check(t, framework.Setting(t, loadVariable, shortLoadOfServers, time.ParseDuration))
}

// disruptions disrupt one of the servers, its connections, one member of etcd, or the whole etcd. A server that loses its connection to etcd
// lists its objects again, and has no earlier events then, as if it had started.
func (s *servers) disruptions() []disruption {
	return []disruption{
		{"server killed", func(r *round) { s.end(r, (*framework.Replica).Kill) }},
		{"server frozen", func(r *round) { r.freeze(anyOf(r, s.replicas).PID()) }},
		{"etcd member killed", func(r *round) {
			member := anyOf(r, s.members)
			r.during(func() {
				member.Kill(r.T)
				time.Sleep(r.between(minFrost, maxFrost))
				member.Start(r.T)
				member.AwaitHealthy(r.T)
			})
		}},
		{"server restarted", func(r *round) { s.end(r, (*framework.Replica).Stop) }},
		{"server cut off from etcd", func(r *round) { r.during(func() { s.cutOff(r) }) }},
		{"etcd frozen", func(r *round) {
			r.during(func() { r.freeze(s.members[0].PID(), s.members[1].PID(), s.members[2].PID()) })
		}},
		{"etcd member frozen", func(r *round) {
			r.during(func() { r.freeze(anyOf(r, s.members).PID()) })
		}},
	}
}

// cutOff cuts the last server off from etcd for a while.
func (s *servers) cutOff(r *round) {
	for _, link := range s.links {
		link.Cut()
	}
	time.Sleep(r.between(minFrost, maxFrost))
	for _, link := range s.links {
		link.Mend()
	}
}

// end ends one of the servers in a way, and waits until it has started again.
func (s *servers) end(r *round, how func(*framework.Replica, *testing.T)) {
	replica := anyOf(r, s.replicas)
	r.during(func() {
		how(replica, r.T)
		replica.Start(r.T)
		replica.AwaitReady(r.T)
	})
}

// anyOf returns a random element.
func anyOf[E any](r *round, elements []E) E { return elements[r.random.IntN(len(elements))] }
