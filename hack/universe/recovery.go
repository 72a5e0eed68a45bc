// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

// identityOf returns the identity in leader election of the server with the client. A restart of an only server does not change it.
func (w *world) identityOf(client *transport.Client) string {
	if w.plan.Servers == 1 {
		return "modelbox"
	}
	return client.Name()
}

// observePeriod is the time between two checks of a server that its store is still the same.
const observePeriod = 10 * time.Minute

// objectsPath is the path of the objects of ModelBox. Discovery has shorter paths.
var objectsPath = "/apis/" + modelv1.SchemeGroupVersion.String() + "/"

// gate passes requests for objects of ModelBox on while their store is served. It responds like kube-apiserver if no server is ready.
// Discovery always works: the controllers of Kubernetes ask once.
func (s *Servers) gate(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, objectsPath) && !s.isServed.Load() {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, req)
	})
}

// serveStore runs the controllers as soon as the store is ready to serve from. It returns nil if the server stops, so that its next
// start recovers the store.
func (w *world) serveStore(ctx context.Context, config *rest.Config, identity string, run func(context.Context, *recovery.Runner) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	runner, err := w.newRunner(ctx, config, identity, fail)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	select {
	case <-runner.Done():
		if !w.isServed.Swap(true) {
			w.checks.checkRecovery()
		}
		err = run(ctx, runner)
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	fail(nil)
	var raise *recovery.RaiseRevisionError
	if errors.As(cause, &raise) {
		w.modelBox.RaiseRevision(raise.To)
	}
	return errors.Join(err, <-ended)
}

// newRunner returns what recovers the store of the server. Its requests have the client of the server.
func (w *world) newRunner(ctx context.Context, clientConfig *rest.Config, identity string, fail context.CancelCauseFunc) (*recovery.Runner, error) {
	config := recovery.Config{
		Policy: recovery.Recover,
		NewClient: func() (*clientv3.Client, error) {
			return w.modelBox.NewClient(ctx, apiserver.ModelBoxPrefix), nil
		},
		IsExclusive:   w.plan.Servers == 1, // Several servers share an external etcd.
		Lease:         types.NamespacedName{Namespace: election.ResourceNamespace, Name: election.ResourceName},
		Holder:        identity,
		ObservePeriod: observePeriod,
	}
	if err := config.SetStorage(apiserver.ModelBoxStorage(w.modelBox)); err != nil {
		return nil, err
	}
	if err := config.SetClients(clientConfig); err != nil {
		return nil, err
	}
	return recovery.NewRunner(config, fail), nil
}

// takeSnapshot takes a snapshot of the store of ModelBox.
func (w *world) takeSnapshot() { w.snapshot = w.modelBox.Snapshot() }

// replaceStore kills the servers, replaces the store of ModelBox by the snapshot, or by an empty store if it is nil, and starts the
// servers again.
func (w *world) replaceStore(ctx context.Context, snapshot *store.Snapshot) error {
	w.stats.Losses++
	for _, server := range w.servers {
		if err := server.kill(); err != nil {
			return fmt.Errorf("%s: %w", server.client.Name(), err)
		}
	}
	w.isServed.Store(false)
	former := w.checks.boxes()
	w.modelBox.Restore(snapshot)
	w.checks.observeLoss(former)
	return w.startServers(ctx)
}

// observeLoss drops what is required of boxes that were being deleted, which may come back, and of the boxes of a snapshot that were
// deleted later.
func (c *checks) observeLoss(former []*model.ModelBox) {
	existed := sets.New[types.UID]()
	for _, box := range former {
		if box.DeletionTimestamp == nil {
			existed.Insert(box.UID)
		}
	}
	for uid, required := range c.capacity {
		required.isWaived = required.isWaived || !existed.Has(uid)
	}
	for _, box := range c.boxes() {
		c.observeRecovered(box)
	}
}

// observeRecovered drops what is no longer required of a box that is as it was before, because changes by users are lost.
func (c *checks) observeRecovered(box *model.ModelBox) {
	c.observeRestarts(box)
	required := c.capacity[box.UID]
	switch {
	case required == nil:
	case box.Spec.Autoscaling != nil:
		required.pods = 0
	default:
		required.pods = min(required.pods, c.requiredPods(box))
	}
}

// checkRecovery checks that the store has a box for each workload of a box, and a stack for each record of a stack. Candidates and the Jobs
// before a rollout have no record of their box.
func (c *checks) checkRecovery() {
	for _, object := range c.world.kubernetes.Objects("/") {
		switch object.(type) {
		case *apps.Deployment, *apps.StatefulSet, *apps.DaemonSet, *apps.ControllerRevision, *batch.Job, *batch.CronJob:
		default:
			continue
		}
		child, err := apimeta.Accessor(object)
		if err != nil {
			continue
		}
		_, isCandidate := child.GetLabels()[modelv1.CandidateLabel]
		_, isStepOfRollout := child.GetLabels()[modelv1.JobTypeLabel]
		owner := metav1.GetControllerOf(child)
		if owner == nil || !render.IsOfGroup(*owner) || child.GetDeletionTimestamp() != nil || isCandidate || isStepOfRollout {
			continue
		}
		prefix := boxPrefix
		if owner.Kind == modelstackrender.Kind.Kind {
			prefix = stackPrefix
		}
		// A later object of the name may have replaced the owner.
		if c.world.modelBox.Object(prefix+child.GetNamespace()+"/"+owner.Name) == nil {
			c.violate("no owner of a record is lost with the store", "%T %s of %s %s", object, child.GetName(), owner.Kind, owner.Name)
		}
	}
}
