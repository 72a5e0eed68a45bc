// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// availabilityVariable is the environment variable that enables all events, and not only the short ones.
	availabilityVariable = "MODELBOX_E2E_AVAILABILITY"
	// formerServerVariable is the environment variable with the program of another release. All servers run it first and are then
	// upgraded.
	formerServerVariable = "MODELBOX_E2E_FORMER_SERVER"
	// http2Variable is the environment variable that makes the servers serve HTTP/2. The short shutdown delay is too short for that.
	http2Variable = "MODELBOX_E2E_HTTP2"

	// shortShutdownDelay is longer than the service takes to stop routing to a server that is not ready. longShutdownDelay is
	// longer than the 90 seconds for which kube-apiserver keeps an idle connection.
	shortShutdownDelay = 3 * time.Second
	longShutdownDelay  = 100 * time.Second
	// answersBetweenEvents is the number of requests of each kind that must succeed before and after an event.
	answersBetweenEvents = 10
	// shownFailures is the number of allowed failures that are logged for an event.
	shownFailures = 10
)

// availability has three servers behind one service, and an etcd of three members.
type availability struct {
	n       *framework.Namespace
	servers []*framework.Replica
	etcd    []*framework.EtcdMember
	// links are the connections of the last server to etcd and to the cluster.
	links   []*framework.Link
	service *framework.Balancer
	traffic *traffic
	watches []*resumingWatch
}

// TestAvailability stops, kills and cuts off servers while users continuously read, write, apply and watch.
func TestAvailability(t *testing.T) {
	a := startAvailability(t)
	for _, event := range []struct {
		name string
		// when is the environment variable that enables the event, empty for always.
		when string
		// do returns the time from which on no request may fail: if it is zero, no request at all may fail.
		do func(a *availability) time.Time
	}{
		{name: "upgrade", do: (*availability).upgradeAll, when: formerServerVariable},
		{name: "rolling restart", do: (*availability).restartAll},
		{name: "node drain", do: (*availability).drainLeader, when: availabilityVariable},
		{name: "leader killed", do: (*availability).killLeader},
		{name: "replica cut off", do: (*availability).cutOff, when: availabilityVariable},
		{name: "etcd member killed", do: (*availability).killEtcdLeader, when: availabilityVariable},
		{name: "kube-apiserver killed", do: (*availability).killAPIServer, when: availabilityVariable},
	} {
		if event.when != "" && os.Getenv(event.when) == "" {
			continue
		}
		if !t.Run(event.name, func(t *testing.T) { a.in(t).expectAnswersDuring(event.do) }) {
			return
		}
	}
	t.Run("every watch sees every change", func(t *testing.T) { a.in(t).expectNothingMissed() })
	t.Run("every child is written once", func(t *testing.T) { a.in(t).expectChildrenWrittenOnce() })
	t.Run("only the leader writes", func(t *testing.T) { a.in(t).expectOneWriter() })
}

func startAvailability(t *testing.T) *availability {
	t.Helper()
	// The server of the control plane is not one of them, and has no boxes to reconcile.
	p := framework.NewControlPlane(t, framework.ServerFlags(append(framework.ExternalEtcd, "--controllers=-modelbox")...)...)
	a := &availability{etcd: framework.StartEtcdCluster(t, p), service: framework.NewBalancer(t)}
	var direct, linked []string
	for _, member := range a.etcd {
		l := framework.NewLink(t, member.ClientURL)
		a.links = append(a.links, l)
		direct, linked = append(direct, member.ClientURL), append(linked, l.URL())
	}
	toCluster := framework.NewLink(t, p.Config.Host)
	a.links = append(a.links, toCluster)

	a.startServer(t, p, "one", "", direct)
	a.startServer(t, p, "two", "", direct)
	a.startServer(t, p, "three", toCluster.URL(), linked)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(stop)
	running.Go(func() { a.service.Probe(ctx, a.servers...) })
	a.service.AwaitEndpoints(t, a.servers...)
	framework.LeadTo(t, p, a.service, a.servers)

	a.n = p.NewNamespace(t)
	a.n.Eventually("the cluster reaches the servers", func() error {
		_, err := a.n.Boxes.List(a.n.Ctx, metav1.ListOptions{})
		return err
	})
	a.traffic = newTraffic(a.n)
	list, err := a.n.Boxes.List(a.n.Ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range trafficWatches {
		w := &resumingWatch{traffic: a.traffic, seen: map[string]int{}}
		a.watches = append(a.watches, w)
		running.Go(func() { w.run(ctx, list.ResourceVersion) })
	}
	return a
}

// startServer starts one of the servers.
func (a *availability) startServer(t *testing.T, p *framework.ControlPlane, name, clusterURL string, etcd []string) {
	t.Helper()
	server := framework.NewReplica(t, p, name, clusterURL,
		"--etcd-servers="+strings.Join(etcd, ","), "--controllers=*",
		"--shutdown-delay-duration="+shutdownDelay().String(), fmt.Sprintf("--disable-http2-serving=%t", os.Getenv(http2Variable) == ""),
		"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s")
	server.Arguments[0] = cmp.Or(os.Getenv(formerServerVariable), server.Arguments[0])
	a.servers = append(a.servers, server)
	server.Start(t)
}

// shutdownDelay returns the shutdown delay of the servers.
func shutdownDelay() time.Duration {
	if os.Getenv(availabilityVariable) == "" {
		return shortShutdownDelay
	}
	return longShutdownDelay
}

// in returns the availability for a subtest.
func (a *availability) in(t *testing.T) *availability {
	in := *a
	in.n = a.n.In(t)
	return &in
}

// expectAnswersDuring sends requests before, during and after an event. A server that stops after the short delay may close an idle
// connection at the moment when kube-apiserver sends a request on it.
func (a *availability) expectAnswersDuring(event func(*availability) time.Time) {
	a.n.T.Helper()
	ctx, stop := context.WithCancel(a.n.Ctx)
	var sending sync.WaitGroup
	defer sending.Wait()
	defer stop()
	sending.Go(func() { a.traffic.send(ctx) })
	a.traffic.awaitAnswers(a.n, answersBetweenEvents)
	began := time.Now()
	over := event(a)
	took := time.Since(began)
	a.traffic.awaitAnswers(a.n, answersBetweenEvents)
	stop()
	sending.Wait()

	counts, relists, failures := a.traffic.summary()
	a.n.T.Logf("failed of all requests while it took %s: %s; %d watches were not resumed but restarted", took.Round(time.Millisecond), counts, relists)
	if over.IsZero() && relists > 0 {
		a.n.T.Errorf("%d watches could not be resumed", relists)
	}
	shown := 0
	for _, failure := range failures {
		if failure.began.After(over) && !(shutdownDelay() == shortShutdownDelay && failure.lostConnection()) {
			a.n.T.Errorf("%s", failure)
		} else if shown < shownFailures {
			a.n.T.Logf("%s", failure)
			shown++
		}
	}
}

// expectNothingMissed checks that every watch, which is resumed each time it ends, received every change once.
func (a *availability) expectNothingMissed() {
	for _, w := range a.watches {
		a.n.Eventually("a watch shows every change", w.checkComplete)
	}
	a.n.T.Logf("%d changes were seen by each of %d watches", len(a.traffic.written), len(a.watches))
}

// expectChildrenWrittenOnce checks that the Deployment and the Service of a box that was never changed were written once,
// independent of changes of the leader. A write whose response was lost with its server counts as one write.
func (a *availability) expectChildrenWrittenOnce() {
	a.n.Eventually("all boxes are applied", func() error {
		boxes, err := a.n.Boxes.List(a.n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range boxes.Items {
			if err := framework.CheckCondition(&boxes.Items[i], modelv1.ConditionApplied, metav1.ConditionTrue, ""); err != nil {
				return fmt.Errorf("box %s: %w", boxes.Items[i].Name, err)
			}
		}
		return nil
	})
	type child struct{ resource, name string }
	written, unanswered := map[child]int{}, map[child]int{}
	for _, write := range a.n.Audit.ClusterWrites() {
		which := child{write.ObjectRef.Resource, write.ObjectRef.Name}
		switch {
		case framework.IsAccepted(write):
			written[which]++
		case write.ResponseStatus.Code >= 500:
			unanswered[which]++
		}
	}
	for _, name := range a.traffic.created {
		for _, resource := range []string{"deployments", "services"} {
			which := child{resource, name}
			if written[which] > 1 || written[which]+unanswered[which] == 0 {
				a.n.T.Errorf("%s %s was written %d times, and %d times without an answer, want once", resource, name, written[which], unanswered[which])
			}
		}
	}
	a.n.T.Logf("the children of %d boxes were written once each", len(a.traffic.created))
}

// expectOneWriter checks that every write of a child was sent by the holder of the Lease at that time.
func (a *availability) expectOneWriter() {
	var requests []auditv1.Event
	requests = append(requests, a.n.Audit.ClusterWrites()...)
	requests = append(requests, a.leaseWrites()...)
	// A server holds the Lease from the time of the response. A write counts at the time of its request.
	when := func(request auditv1.Event) time.Time {
		if request.ObjectRef.Resource == "leases" {
			return request.StageTimestamp.Time
		}
		return request.RequestReceivedTimestamp.Time
	}
	slices.SortStableFunc(requests, func(one, other auditv1.Event) int { return when(one).Compare(when(other)) })
	var holder *framework.Replica
	terms, writes := 0, 0
	for _, request := range requests {
		sender := a.sender(request)
		switch {
		case request.ObjectRef.Resource == "leases":
			if sender != holder {
				terms++
			}
			holder = sender
		case !framework.IsAccepted(request):
		case sender != holder:
			a.n.T.Errorf("%s: server %s sent %s %s while server %s led", when(request), sender.Name, request.Verb, request.RequestURI, holder.Name)
		default:
			writes++
		}
	}
	a.n.T.Logf("%d writes of children in %d terms", writes, terms)
}

// leaseWrites returns the requests that acquired, renewed or released the Lease of the controllers.
func (a *availability) leaseWrites() []auditv1.Event {
	a.n.T.Helper()
	var writes []auditv1.Event
	for _, request := range framework.ReadWrites(a.n.T, a.n.ControlPlane.ClusterAuditLog(), framework.ServerNamespace) {
		if request.ObjectRef.Resource == "leases" && request.ObjectRef.Name == "modelbox-controller" &&
			framework.IsAccepted(request) && a.sender(request) != nil {
			writes = append(writes, request)
		}
	}
	return writes
}

// sender returns the server that sent a request, nil if it was none of the servers.
func (a *availability) sender(request auditv1.Event) *framework.Replica {
	for _, server := range a.servers {
		if server.Sent(request) {
			return server
		}
	}
	return nil
}

// leader returns the server with the last write of the Lease.
func (a *availability) leader() *framework.Replica {
	a.n.T.Helper()
	writes := a.leaseWrites()
	if len(writes) == 0 {
		a.n.T.Fatal("none of the servers has written the Lease")
	}
	return a.sender(writes[len(writes)-1])
}
