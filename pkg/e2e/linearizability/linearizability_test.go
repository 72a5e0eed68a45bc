// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// loadVariable is the environment variable with the duration of the load, such as 30m.
	loadVariable = "MODELBOX_E2E_LINEARIZABILITY"
	shortLoad    = 20 * time.Second
	// roundLoad is the duration for which clients compete for the same objects. Requests without a response make the history of an
	// object hard to check.
	roundLoad = 30 * time.Second
	// checkTimeout is the timeout for the check of the operations on one object.
	checkTimeout = time.Minute

	clients = 6
)

// TestHistoriesAreLinearizable runs clients that compete for boxes and stacks, through the aggregation layer and directly, while
// the server is killed, frozen and restarted, and while its disk is full. It checks the responses. No controller runs, so that all
// changes are by clients.
func TestHistoriesAreLinearizable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this needs a control plane")
	}
	var dir string
	disruptions := ofTheServer
	if disk, err := framework.NewSmallDisk(t); err != nil {
		t.Logf("the disk is not filled: %v", err)
		dir = newDirectory(t)
	} else {
		dir = disk.Dir
		disruptions = append(slices.Clone(disruptions), disruption{"without space on its disk", func(r *round) { r.fill(disk) }})
	}
	s := newSystem(t, filepath.Join(dir, "data"))
	s.disruptions = disruptions
	s.check(t, framework.Setting(t, loadVariable, shortLoad, time.ParseDuration))
}

// newDirectory returns a directory of the test that is not in TMPDIR, which may be too long for the path of a socket.
func newDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mb-linear-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// newSystem returns a system of one server with the data directory.
func newSystem(t *testing.T, dataDir string) *system {
	t.Helper()
	p := framework.NewControlPlane(t, framework.ServerFlags("--controllers=-modelbox", "--data-dir="+dataDir)...)
	return &system{
		ControlPlane: p,
		etcd:         etcd{[]string{"unix://" + filepath.Join(dataDir, "client.sock")}, "/registry/model.github.com/"},
		direct:       []rest.Interface{p.DirectClient(t)},
	}
}

// system is what clients use and what is disrupted.
type system struct {
	*framework.ControlPlane
	etcd etcd
	// direct are the clients of single servers.
	direct      []rest.Interface
	disruptions []disruption
}

// check runs rounds for a duration, and at least one.
func (s *system) check(t *testing.T, load time.Duration) {
	t.Helper()
	for began, number := time.Now(), 1; number == 1 || time.Since(began) < load; number++ {
		length := min(load, roundLoad)
		if !t.Run(fmt.Sprintf("round %d", number), func(t *testing.T) { s.newRound(t).run(length) }) {
			break // keep the history of this round
		}
	}
}

// round has clients that compete for objects of a separate namespace.
type round struct {
	*framework.Namespace
	etcd        etcd
	disruptions []disruption
	recorder    *recorder
	seed        uint64
	random      *rand.Rand
	clients     []*client
	watchers    []*watcher
}

func (s *system) newRound(t *testing.T) *round {
	t.Helper()
	r := &round{Namespace: s.NewNamespace(t), etcd: s.etcd, disruptions: s.disruptions, recorder: &recorder{began: time.Now()}, seed: rand.Uint64()}
	r.random = rand.New(rand.NewPCG(r.seed, math.MaxUint64))
	aggregated := s.KubeClient.Discovery().RESTClient()
	for number := range clients {
		server := aggregated
		if number%2 == 1 {
			server = s.direct[number/2%len(s.direct)]
		}
		r.clients = append(r.clients, r.newClient(server))
	}
	for number, resource := range []string{boxes, stacks} {
		for _, server := range []rest.Interface{aggregated, s.direct[number%len(s.direct)]} {
			r.watchers = append(r.watchers, &watcher{client: *r.newClient(server), resource: resource})
		}
	}
	return r
}

func (r *round) newClient(server rest.Interface) *client {
	number := len(r.clients) + len(r.watchers)
	return &client{t: r.T, number: number, server: server, namespace: r.Name, recorder: r.recorder,
		random: rand.New(rand.NewPCG(r.seed, uint64(number))), known: map[Key]Object{}}
}

// run runs the clients for a duration, and checks the responses.
func (r *round) run(length time.Duration) {
	store := r.etcd.follow(r.T, r.Name, r.etcd.revision(r.T))
	disrupting, end := context.WithTimeout(r.Ctx, length)
	defer end()
	stopWatching := start(r, r.watchers, (*watcher).run)
	defer stopWatching()
	stop := start(r, r.clients, (*client).run)
	defer stop()
	disruptions := r.disrupt(disrupting)
	r.awaitAll()
	stop()
	last := r.finish()
	stopWatching()

	history := r.recorder.history
	changes, err := store.upTo(r.Namespace, last)
	if err != nil {
		r.T.Logf("the history is not checked, because it is not complete: %v", err)
		return
	}
	history.Changes = changes
	r.T.Logf("seed %d: %s", r.seed, history.summary())
	r.T.Logf("%v", disruptions)
	began := time.Now()
	r.keep(Check(history, checkTimeout))
	r.T.Logf("checked in %s", time.Since(began).Round(time.Millisecond))
}

// start starts clients. They run until the returned function is called.
func start[C any](r *round, clients []C, run func(C, context.Context)) (stop func()) {
	ctx, end := context.WithCancel(r.Ctx)
	var running sync.WaitGroup
	for _, client := range clients {
		running.Go(func() { run(client, ctx) })
	}
	return func() {
		end()
		running.Wait()
	}
}

// finish changes each resource once more, waits until all watches have the change, and returns the last revision.
func (r *round) finish() int64 {
	r.T.Helper()
	last := map[string]int64{}
	for _, resource := range []string{boxes, stacks} {
		key := Key{resource, "last"}
		r.Eventually("the last object of "+resource+" is written", func() error {
			if !r.clients[0].do(Request{Verb: Apply, Key: key}) {
				return fmt.Errorf("it was not served")
			}
			return nil
		})
		last[resource] = r.clients[0].known[key].Revision
	}
	for _, watcher := range r.watchers {
		r.Eventually(fmt.Sprintf("client %d received the last change of %s", watcher.number, watcher.resource), func() error {
			if seen := watcher.seen.Load(); seen < last[watcher.resource] {
				return fmt.Errorf("it received revisions up to %d of %d", seen, last[watcher.resource])
			}
			return nil
		})
	}
	return max(last[boxes], last[stacks])
}

// maxTold limits the number of reported errors, because one error can cause many others.
const maxTold = 20

// keep fails the test if the history has violations, and writes pictures of it next to the logs.
func (r *round) keep(report Report) {
	r.T.Helper()
	for i, err := range report.Errors {
		if i == maxTold {
			r.T.Errorf("and %d more", len(report.Errors)-maxTold)
			break
		}
		r.T.Error(err)
	}
	for _, key := range report.Undecided {
		r.T.Logf("%s: whether its history is linearizable was not decided in %s", key, checkTimeout)
	}
	for _, picture := range report.Illegal {
		path := filepath.Join(r.ControlPlane.Dir, "logs", fmt.Sprintf("%s-%s.html", picture.Key.Resource, picture.Key.Name))
		file, err := os.Create(path)
		if err != nil {
			r.T.Fatal(err)
		}
		if err := picture.Write(file); err != nil {
			r.T.Error(err)
		}
		file.Close()
		r.T.Logf("the operations on %s are drawn in %s", picture.Key, path)
	}
}

// awaitAll waits until every kind of request was made at least once.
func (r *round) awaitAll() {
	r.T.Helper()
	r.Eventually("everything was done", func() error {
		missing := sets.New(Create, Get, Update, Patch, Apply, Delete)
		r.recorder.record(func(h *History) {
			for _, operation := range h.Operations {
				if operation.Response.Outcome == Done {
					missing.Delete(operation.Request.Verb)
				}
			}
		})
		if len(missing) > 0 {
			return fmt.Errorf("no client has succeeded with %v", sets.List(missing))
		}
		return nil
	})
}
