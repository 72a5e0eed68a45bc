// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// refusalPatience is the timeout for the controller to report a cache that it needs and cannot fill.
const refusalPatience = 2 * time.Minute

// TestControllerReportsForbiddenCaches removes permissions of the server: the permission to read pods, which the controller
// requires, and the permission to read events, which it does not require.
func TestControllerReportsForbiddenCaches(t *testing.T) {
	t.Parallel()
	p := framework.NewControlPlane(t)
	n := p.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("before"))

	rules := changeServerRules(t, p, func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Resources, "pods") || slices.Contains(rule.Resources, "events")
		})
	})
	p.SignalServer(t, syscall.SIGTERM) // open watches would continue
	server := p.ServerPID(t)

	framework.Eventually(t, refusalPatience, "the health of the controller names what is missing", func() error {
		return expectControllerHealth(t, p, http.StatusInternalServerError, "cannot list or watch pods, which needs the right to list and watch them", "pods is forbidden")
	})
	n.Eventually("the log does", func() error {
		return serverLogs(p, `"A cache does not follow its API server"`, `resource="pods" required=true`, "pods is forbidden")
	})
	n.Eventually("the metrics do", func() error { return expectCaches(t, p, 0, "pods", "events.events.k8s.io") })
	if err := expectCaches(t, p, 1, "modelboxes.model.github.com", "deployments.apps", "services"); err != nil {
		t.Error(err)
	}
	framework.Eventually(t, refusalPatience, "the Lease is given up", func() error {
		lease, err := p.KubeClient.CoordinationV1().Leases(framework.ServerNamespace).Get(t.Context(), "modelbox-controller", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
			return fmt.Errorf("%s holds it", holder)
		}
		return nil
	})
	n.CreateBox(framework.NewBox("meanwhile"))
	for _, path := range []string{"/livez", "/readyz"} {
		if err := p.DirectClient(t).Get().AbsPath(path).Do(t.Context()).Error(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}

	changeServerRules(t, p, func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(rules, rbacv1.PolicyRule{APIGroups: []string{corev1.GroupName}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}})
	})
	framework.Eventually(t, refusalPatience, "the controller works without events", func() error {
		return expectControllerHealth(t, p, http.StatusOK)
	})
	n.AwaitReady("meanwhile")
	n.Eventually("the metrics report what it does not need", func() error {
		if err := expectCaches(t, p, 0, "events.events.k8s.io"); err != nil {
			return err
		}
		return expectCaches(t, p, 1, "pods")
	})

	changeServerRules(t, p, func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return rules })
	framework.Eventually(t, refusalPatience, "it has all its caches", func() error {
		return expectCaches(t, p, 1, "pods", "events.events.k8s.io")
	})
	if now := p.ServerPID(t); now != server {
		t.Errorf("the server was restarted: process %d, before %d", now, server)
	}
}

// changeServerRules changes the permissions of the server in all namespaces, and returns the former rules.
func changeServerRules(t *testing.T, p *framework.ControlPlane, change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	var before []rbacv1.PolicyRule
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		role, err := p.KubeClient.RbacV1().ClusterRoles().Get(t.Context(), "modelbox-apiserver", metav1.GetOptions{})
		if err != nil {
			return err
		}
		before = slices.Clone(role.Rules)
		role.Rules = change(role.Rules)
		_, err = p.KubeClient.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("changing the permissions of the server: %v", err)
	}
	return before
}

// expectControllerHealth returns an error unless the health check of the controller returns the status code and the words.
func expectControllerHealth(t *testing.T, p *framework.ControlPlane, status int, words ...string) error {
	t.Helper()
	var code int
	// The response has a body for every status code.
	body, _ := p.DirectClient(t).Get().AbsPath("/healthz/controllers/modelbox").Do(t.Context()).StatusCode(&code).Raw()
	if code != status || !framework.ContainsAll(string(body), words) {
		return fmt.Errorf("the health of the controller is %d: %s", code, body)
	}
	return nil
}

// expectCaches returns an error unless the metric has the value for each of the resources.
func expectCaches(t *testing.T, p *framework.ControlPlane, want float64, resources ...string) error {
	t.Helper()
	metrics := framework.Scrape(t, p.DirectClient(t))
	for _, resource := range resources {
		labels := map[string]string{"resource": resource}
		if got := framework.Sum(metrics, "modelbox_controller_cache_synced", labels); got != want {
			return fmt.Errorf("the metric is %v for %s, want %v", got, resource, want)
		}
	}
	return nil
}

// serverLogs returns an error unless one line in the log of the server has all of the words.
func serverLogs(p *framework.ControlPlane, words ...string) error {
	log, err := os.ReadFile(filepath.Join(p.Dir, "logs", framework.ServerProcess+".log"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(log)) {
		if framework.ContainsAll(line, words) {
			return nil
		}
	}
	return fmt.Errorf("no line of the log has %q", words)
}
