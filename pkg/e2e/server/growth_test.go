// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// grownBoxesVariable is the environment variable with the number of boxes, such as 25000.
	grownBoxesVariable = "MODELBOX_E2E_GROWN_BOXES"

	grownNamespaces = 25
	grownWriters    = 16
	// quietTime is the time in which nothing may be written.
	quietTime = time.Minute
)

// growth has three servers, an etcd of three members, and many boxes without pods.
type growth struct {
	p          *framework.ControlPlane
	t          *testing.T
	boxes      int
	etcd       []*framework.EtcdMember
	servers    []*framework.Replica
	service    *framework.Balancer
	namespaces []*framework.Namespace
}

// TestManyBoxesOnThreeServers creates many boxes and logs the cost. After all of them are settled, nothing is written. After a
// change of the leader, no child is written.
func TestManyBoxesOnThreeServers(t *testing.T) {
	boxes := framework.Setting(t, grownBoxesVariable, 0, strconv.Atoi)
	if boxes == 0 {
		t.Skipf("%s is not set", grownBoxesVariable)
	}
	g := startGrowth(t, boxes)
	g.logCosts("without boxes")
	g.createAll()
	g.awaitAllReady()
	g.logCosts("with all boxes")
	g.logReads()
	g.expectQuiet("all boxes are reconciled")
	g.changeLeader()
	g.logCosts("after another server has led")
	g.expectQuiet("another server leads")
}

func startGrowth(t *testing.T, boxes int) *growth {
	t.Helper()
	// The server of the control plane is not one of them, and has no boxes to reconcile.
	p := framework.NewControlPlane(t, framework.ServerFlags(append(framework.ExternalEtcd, "--controllers=-modelbox")...)...)
	g := &growth{p: p, t: t, boxes: boxes, etcd: framework.StartEtcdCluster(t, p), service: framework.NewBalancer(t)}
	for _, name := range []string{"one", "two", "three"} {
		server := framework.NewReplica(t, p, name, "", "--etcd-servers="+framework.ClientURLs(g.etcd), "--controllers=*")
		g.servers = append(g.servers, server)
		server.Start(t)
	}
	for _, server := range g.servers {
		server.AwaitReady(t)
		g.service.Add(server)
	}
	framework.LeadTo(t, p, g.service, g.servers)
	for range grownNamespaces {
		g.namespaces = append(g.namespaces, p.NewNamespace(t))
	}
	g.namespaces[0].Eventually("the cluster reaches the servers", func() error {
		_, err := g.namespaces[0].Boxes.List(t.Context(), metav1.ListOptions{})
		return err
	})
	return g
}

// createAll creates the boxes, a few concurrently.
func (g *growth) createAll() {
	g.t.Helper()
	began := time.Now()
	var writing sync.WaitGroup
	for writer := range grownWriters {
		writing.Go(func() {
			for i := writer; i < g.boxes; i += grownWriters {
				n := g.namespaces[i%len(g.namespaces)]
				box := framework.NewBox(fmt.Sprintf("box-%d", i), framework.WithReplicas(0), func(spec *modelv1.ModelBoxSpec) { spec.Ports = nil })
				if _, err := n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{}); err != nil {
					g.t.Errorf("creating box %d: %v", i, err)
					return
				}
			}
		})
	}
	writing.Wait()
	took := time.Since(began)
	g.t.Logf("%d boxes are created in %s: %.0f a second", g.boxes, took.Round(time.Second), float64(g.boxes)/took.Seconds())
	if g.t.Failed() {
		g.t.FailNow()
	}
}

// awaitAllReady waits until all boxes are Ready.
func (g *growth) awaitAllReady() {
	g.t.Helper()
	began := time.Now()
	framework.Eventually(g.t, g.patience(), "all boxes are Ready", func() error {
		time.Sleep(time.Second) // reads have a cost as well
		list, err := g.p.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceAll).List(g.t.Context(), metav1.ListOptions{FieldSelector: "status.ready!=true", Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("box %s is not", list.Items[0].Name)
		}
		return nil
	})
	g.t.Logf("the last box is Ready %s after the last one was created", time.Since(began).Round(time.Second))
}

// patience is longer than the time to reconcile all boxes.
func (g *growth) patience() time.Duration {
	return framework.Patience + time.Duration(g.boxes)*100*time.Millisecond
}

func (g *growth) metricsOf(server *framework.Replica) testutil.Metrics {
	g.t.Helper()
	return framework.Scrape(g.t, g.clientOf(server))
}

func (g *growth) clientOf(server *framework.Replica) rest.Interface {
	g.t.Helper()
	return g.p.DirectClientAt(g.t, server.Port)
}

// logCosts logs the CPU time and the memory of the servers and etcd.
func (g *growth) logCosts(when string) {
	g.t.Helper()
	for _, server := range g.servers {
		metrics := g.metricsOf(server)
		g.t.Logf("%s: server %s has %.0f MiB resident, %.0f MiB of heap, and has used %.0f s of CPU", when, server.Name,
			framework.Sum(metrics, "process_resident_memory_bytes", nil)/(1<<20),
			framework.Sum(metrics, "go_memstats_heap_inuse_bytes", nil)/(1<<20),
			framework.Sum(metrics, "process_cpu_seconds_total", nil))
	}
	for _, member := range g.etcd {
		metrics := member.Scrape(g.t)
		g.t.Logf("%s: %s has %.0f MiB resident, a database of %.0f MiB of which %.0f MiB are used, and has used %.0f s of CPU", when, member.Name,
			framework.Sum(metrics, "process_resident_memory_bytes", nil)/(1<<20),
			framework.Sum(metrics, "etcd_mvcc_db_total_size_in_bytes", nil)/(1<<20),
			framework.Sum(metrics, "etcd_mvcc_db_total_size_in_use_in_bytes", nil)/(1<<20),
			framework.Sum(metrics, "process_cpu_seconds_total", nil))
	}
}

// logReads logs the time to list all boxes, at once and in pages, and to watch them from the beginning.
func (g *growth) logReads() {
	g.t.Helper()
	client := g.clientOf(g.servers[0])
	for _, read := range []struct {
		name       string
		parameters map[string]string
	}{
		{"a list", nil},
		{"a list of any age", map[string]string{"resourceVersion": "0"}},
		{"a page of 500", map[string]string{"limit": "500"}},
		{"a list of one namespace", map[string]string{"fieldSelector": "metadata.namespace=" + g.namespaces[0].Name}},
	} {
		began := time.Now()
		request := client.Get().AbsPath("/apis/model.github.com/v1/modelboxes")
		for name, value := range read.parameters {
			request = request.Param(name, value)
		}
		answer, err := request.DoRaw(g.t.Context())
		if err != nil {
			g.t.Fatal(err)
		}
		g.t.Logf("%s takes %s and has %.1f MiB", read.name, time.Since(began).Round(time.Millisecond), float64(len(answer))/(1<<20))
	}
}

// expectQuiet checks that the servers write nothing but the Lease for quietTime.
func (g *growth) expectQuiet(when string) {
	g.t.Helper()
	time.Sleep(quietTime / 6) // for the last status writes of rollouts
	logs := []string{g.p.ClusterAuditLog()}
	for _, server := range g.servers {
		logs = append(logs, server.AuditLog)
	}
	begins := make([]int64, len(logs))
	for i, log := range logs {
		begins[i] = sizeOf(g.t, log)
	}
	time.Sleep(quietTime)
	for i, log := range logs {
		for _, write := range writesSince(g.t, log, begins[i]) {
			g.t.Errorf("%s, and there is a write: %s %s by %s", when, write.Verb, write.RequestURI, write.User.Username)
		}
	}
}

// changeLeader kills the leader, and logs the time until another server has reconciled all boxes. No child may be written
// meanwhile.
func (g *growth) changeLeader() {
	g.t.Helper()
	lease := g.p.AwaitLeader(g.t, "")
	// The leader has reconciled all boxes.
	leader := slices.MaxFunc(g.servers, func(a, b *framework.Replica) int { return cmp.Compare(g.reconciled(a), g.reconciled(b)) })
	begin := sizeOf(g.t, g.p.ClusterAuditLog())
	g.service.Remove(leader)
	began := time.Now()
	leader.Kill(g.t)
	g.p.AwaitLeader(g.t, *lease.Spec.HolderIdentity)
	g.t.Logf("another server leads %s after the leader was killed", time.Since(began).Round(time.Second))
	framework.Eventually(g.t, g.patience(), "the new leader has looked at all boxes", func() error {
		time.Sleep(time.Second) // reads have a cost as well
		most := 0.0
		for _, server := range g.servers {
			if server != leader {
				most = max(most, g.reconciled(server))
			}
		}
		if most < float64(g.boxes) {
			return fmt.Errorf("it has reconciled %.0f boxes", most)
		}
		return nil
	})
	g.t.Logf("the new leader has looked at all boxes %s after the leader was killed", time.Since(began).Round(time.Second))
	for _, write := range writesSince(g.t, g.p.ClusterAuditLog(), begin) {
		g.t.Errorf("a write because of the change of the leader: %s %s", write.Verb, write.RequestURI)
	}
	began = time.Now()
	leader.Start(g.t)
	leader.AwaitReady(g.t)
	g.t.Logf("the server that was killed is ready %s after it was started", time.Since(began).Round(100*time.Millisecond))
	g.service.Add(leader)
}

// reconciled returns the number of reconciles of boxes by a server.
func (g *growth) reconciled(server *framework.Replica) float64 {
	g.t.Helper()
	return framework.Sum(g.metricsOf(server), "modelbox_controller_reconcile_duration_seconds_count", nil)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// writesSince returns the writes of the servers in an audit log after an offset, without writes of Leases and access reviews.
func writesSince(t *testing.T, path string, offset int64) []auditv1.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	var writes []auditv1.Event
	// Leave out an incomplete last line.
	for line := range bytes.Lines(content[:bytes.LastIndexByte(content, '\n')+1]) {
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("reading %s: %v", path, err)
		}
		if event.User.Username != framework.ServerUser || event.ObjectRef == nil {
			continue
		}
		switch event.Verb {
		case "create", "update", "patch", "delete":
		default:
			continue
		}
		switch event.ObjectRef.Resource {
		case "leases", "subjectaccessreviews", "tokenreviews":
		default:
			writes = append(writes, event)
		}
	}
	return writes
}
