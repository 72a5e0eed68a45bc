// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

// refusalPatience is for how long the controller may say nothing of a cache that it needs, with what this machine takes
// to say so.
const refusalPatience = 2 * time.Minute

// TestAControllerThatMayNotReadSaysSo takes rights from the server's account: to read pods, without which the controller
// cannot work, and to read autoscalers, without which it can.
func TestAControllerThatMayNotReadSaysSo(t *testing.T) {
	t.Parallel()
	p := newControlPlane(t)
	n := p.newNamespace(t)
	n.createReady(newBox("before"))

	rules := p.changeServerRules(t, func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Resources, "pods") || slices.Contains(rule.Resources, "horizontalpodautoscalers")
		})
	})
	p.signalServer(t, syscall.SIGTERM) // what it watches already stays
	server := p.serverPID(t)

	eventually(t, refusalPatience, "the health of the controller names what is missing", func() error {
		return p.expectControllerHealth(t, http.StatusInternalServerError, "cannot list or watch pods, which needs the right to list and watch them", "pods is forbidden")
	})
	n.eventually("the log does", func() error {
		return p.serverLogs(`"A cache does not follow its API server"`, `resource="pods" required=true`, "pods is forbidden")
	})
	n.eventually("the metrics do", func() error { return p.expectCaches(t, 0, "pods", "horizontalpodautoscalers.autoscaling") })
	if err := p.expectCaches(t, 1, "modelboxes.model.github.com", "deployments.apps", "services"); err != nil {
		t.Error(err)
	}
	eventually(t, refusalPatience, "the Lease is given up", func() error {
		lease, err := p.kube.CoordinationV1().Leases(serverNamespace).Get(t.Context(), "modelbox-controller", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
			return fmt.Errorf("%s holds it", holder)
		}
		return nil
	})
	n.create(newBox("meanwhile"))
	for _, path := range []string{"/livez", "/readyz"} {
		if err := p.directClient(t).Get().AbsPath(path).Do(t.Context()).Error(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}

	p.changeServerRules(t, func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return append(rules, rbacv1.PolicyRule{APIGroups: []string{corev1.GroupName}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}})
	})
	eventually(t, refusalPatience, "the controller works without autoscalers", func() error {
		return p.expectControllerHealth(t, http.StatusOK)
	})
	n.awaitReady("meanwhile")
	n.eventually("the metrics tell of what it does not need", func() error {
		if err := p.expectCaches(t, 0, "horizontalpodautoscalers.autoscaling"); err != nil {
			return err
		}
		return p.expectCaches(t, 1, "pods")
	})

	p.changeServerRules(t, func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return rules })
	eventually(t, refusalPatience, "it has all its caches", func() error {
		return p.expectCaches(t, 1, "pods", "horizontalpodautoscalers.autoscaling")
	})
	if now := p.serverPID(t); now != server {
		t.Errorf("the server was restarted: process %d, before %d", now, server)
	}
}

// changeServerRules changes what the server's account may do in every namespace, and returns what it was.
func (p *controlPlane) changeServerRules(t *testing.T, change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	var before []rbacv1.PolicyRule
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		role, err := p.kube.RbacV1().ClusterRoles().Get(t.Context(), "modelbox-apiserver", metav1.GetOptions{})
		if err != nil {
			return err
		}
		before = slices.Clone(role.Rules)
		role.Rules = change(role.Rules)
		_, err = p.kube.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("changing the rights of the server: %v", err)
	}
	return before
}

// expectControllerHealth returns an error unless the health of the controller is answered so.
func (p *controlPlane) expectControllerHealth(t *testing.T, status int, words ...string) error {
	t.Helper()
	var code int
	// The body is the answer, whatever the status.
	body, _ := p.directClient(t).Get().AbsPath("/healthz/controllers/modelbox").Do(t.Context()).StatusCode(&code).Raw()
	if code != status || !containsAll(string(body), words) {
		return fmt.Errorf("the health of the controller is %d: %s", code, body)
	}
	return nil
}

// expectCaches returns an error unless the metric has the value for each of the resources.
func (p *controlPlane) expectCaches(t *testing.T, want float64, resources ...string) error {
	t.Helper()
	metrics := scrape(t, p.directClient(t))
	for _, resource := range resources {
		labels := map[string]string{"resource": resource}
		if got := sum(metrics, "modelbox_controller_cache_synced", labels); got != want {
			return fmt.Errorf("the metric is %v for %s, want %v", got, resource, want)
		}
	}
	return nil
}

// serverLogs returns an error unless one line of the server's log has all the words.
func (p *controlPlane) serverLogs(words ...string) error {
	log, err := os.ReadFile(filepath.Join(p.dir, "logs", serverProcess+".log"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(log)) {
		if containsAll(line, words) {
			return nil
		}
	}
	return fmt.Errorf("no line of the log has %q", words)
}
