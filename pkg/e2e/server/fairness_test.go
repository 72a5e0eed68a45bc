// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const (
	floodConnections = 64
	politeRequests   = 30
)

// TestFloodOfOneUserStarvesNoOtherUser does not run in parallel, because it floods the server. One user sends as many requests as
// the server can serve, and the requests of another user and of the controller still succeed.
func TestFloodOfOneUserStarvesNoOtherUser(t *testing.T) {
	n := framework.NewNamespace(t)
	flowControl := framework.InRepository("artifacts", "components", "priority-and-fairness", "flowcontrol.yaml")
	n.Kubectl.Run("apply", "--filename="+flowControl)
	t.Cleanup(func() {
		api := n.ControlPlane.KubeClient.FlowcontrolV1()
		err := errors.Join(
			api.FlowSchemas().Delete(context.Background(), "modelboxes", metav1.DeleteOptions{}),
			api.PriorityLevelConfigurations().Delete(context.Background(), "modelboxes", metav1.DeleteOptions{}),
		)
		if err != nil {
			t.Error(err)
		}
	})
	for _, user := range []string{"flooder", "other"} {
		n.Kubectl.Run("create", "rolebinding", user, "--clusterrole=edit", "--user="+user)
	}
	server := n.ControlPlane.DirectClient(t)
	const dispatched = "apiserver_flowcontrol_dispatched_requests_total"
	ofUsers, exempt := map[string]string{"flow_schema": "modelboxes"}, map[string]string{"priority_level": "exempt"}

	other, rejected := clientOf(n, "other")
	n.Eventually("the server has the flow schema", func() error {
		if _, err := other.ModelV1().ModelBoxes(n.Name).List(n.Ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		if framework.Sum(framework.Scrape(t, server), dispatched, ofUsers) == 0 {
			return fmt.Errorf("no request has the flow schema")
		}
		return nil
	})
	before := framework.Scrape(t, server)
	rejected.Store(0)

	ctx, stop := context.WithCancel(n.Ctx)
	var flood sync.WaitGroup
	var flooded atomic.Int64
	for i := range floodConnections {
		flooder, _ := clientOf(n, "flooder")
		flood.Go(func() {
			box := framework.NewBox(fmt.Sprintf("flood-%d", i), withVariables(64<<10))
			for ctx.Err() == nil {
				_, _ = flooder.ModelV1().ModelBoxes(n.Name).Create(ctx, box, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}) // a flood ignores errors
				_, _ = flooder.ModelV1().ModelBoxes(n.Name).List(ctx, metav1.ListOptions{})
				flooded.Add(1)
			}
		})
	}
	defer flood.Wait()
	defer stop()
	n.Eventually("the flood has begun", func() error {
		if flooded.Load() < floodConnections {
			return fmt.Errorf("%d requests so far", flooded.Load())
		}
		return nil
	})
	for i := range politeRequests {
		if _, err := other.ModelV1().ModelBoxes(n.Name).Create(n.Ctx, framework.NewBox(fmt.Sprintf("web-%d", i), framework.WithReplicas(0)), metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating a box in the flood: %v", err)
		}
	}
	n.AwaitReady(fmt.Sprintf("web-%d", politeRequests-1))
	if rejected.Load() > 0 {
		t.Errorf("%d requests of the other user were rejected", rejected.Load())
	}
	after := framework.Scrape(t, server)
	if framework.Sum(after, dispatched, ofUsers)-framework.Sum(before, dispatched, ofUsers) < politeRequests {
		t.Error("the requests of the users do not have the flow schema")
	}
	if framework.Sum(after, dispatched, exempt) <= framework.Sum(before, dispatched, exempt) {
		t.Error("the requests of the controller are not exempt")
	}
}

// withVariables sets environment variables with a total size in bytes.
func withVariables(bytes int) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		for i := range 512 {
			spec.Envs = append(spec.Envs, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("x", bytes/512)})
		}
	}
}

// clientOf returns a client of a user, and counts the requests that the servers reject with 429.
func clientOf(n *framework.Namespace, user string) (versioned.Interface, *atomic.Int64) {
	n.T.Helper()
	rejected := &atomic.Int64{}
	config := rest.CopyConfig(n.ControlPlane.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode == http.StatusTooManyRequests {
				rejected.Add(1)
			}
			return response, err
		})
	})
	client, err := versioned.NewForConfig(config)
	if err != nil {
		n.T.Fatal(err)
	}
	return client, rejected
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
