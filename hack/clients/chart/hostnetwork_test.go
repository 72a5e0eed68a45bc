// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	psaapi "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"
)

// TestHostNetworkChangesThePodAndItsPolicies checks that the host network does not change the permissions of the server, its
// Service and its APIService.
func TestHostNetworkChangesThePodAndItsPolicies(t *testing.T) {
	for _, test := range []struct {
		with, without string
		want          []string
	}{
		{"testdata/host-network", artifacts + "/overlays/standalone", []string{
			"apps/v1 Deployment modelbox-system/modelbox-apiserver",
			"networking.k8s.io/v1 NetworkPolicy modelbox-system/modelbox-apiserver",
			"v1 Namespace <nil>/modelbox-system",
		}},
		{"testdata/host-network-ha-with-etcd", artifacts + "/overlays/ha-with-etcd", []string{
			"apps/v1 Deployment modelbox-system/modelbox-apiserver",
			"networking.k8s.io/v1 NetworkPolicy modelbox-system/modelbox-apiserver",
			"networking.k8s.io/v1 NetworkPolicy modelbox-system/modelbox-etcd",
			"v1 Namespace <nil>/modelbox-system",
		}},
	} {
		with, without := build(t, test.with), build(t, test.without)
		all := maps.Clone(without)
		maps.Copy(all, with)
		var changed []string
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !reflect.DeepEqual(with[key], without[key]) {
				changed = append(changed, key)
			}
		}
		if diff := cmp.Diff(test.want, changed); diff != "" {
			t.Errorf("%s changes other objects, -want +got:\n%s", test.with, diff)
		}
	}
}

// TestServersOnTheHostNetworkReachTheirEtcd checks the NetworkPolicy of etcd, which cannot select pods on the host network by their
// labels.
func TestServersOnTheHostNetworkReachTheirEtcd(t *testing.T) {
	policy := build(t, "testdata/host-network-ha-with-etcd")["networking.k8s.io/v1 NetworkPolicy modelbox-system/modelbox-etcd"]
	want := decode(t, `
podSelector: {matchLabels: {app.kubernetes.io/name: modelbox-etcd}}
policyTypes: [Ingress]
ingress:
- ports:
  - {protocol: TCP, port: client}
- from:
  - podSelector: {matchLabels: {app.kubernetes.io/name: modelbox-etcd}}
  ports:
  - {protocol: TCP, port: client}
  - {protocol: TCP, port: peer}
`)
	if diff := cmp.Diff(any(want), policy["spec"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNamespaceEnforcesTheStrictestStandard checks that the namespace enforces the strictest Pod Security Standard that admits all
// of its pods.
func TestNamespaceEnforcesTheStrictestStandard(t *testing.T) {
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kustomization string
		want          psaapi.Level
	}{
		{artifacts + "/overlays/standalone", psaapi.LevelRestricted},
		{artifacts + "/overlays/ha-with-etcd", psaapi.LevelRestricted},
		{"testdata/everything", psaapi.LevelRestricted},
		{"testdata/host-network", psaapi.LevelPrivileged},
		{"testdata/host-network-ha-with-etcd", psaapi.LevelPrivileged},
	} {
		t.Run(test.kustomization, func(t *testing.T) {
			all := build(t, test.kustomization)
			labels := all["v1 Namespace <nil>/"+namespace]["metadata"].(map[string]any)["labels"].(map[string]any)
			if got := labels[psaapi.EnforceLevelLabel]; got != string(test.want) {
				t.Errorf("the namespace enforces %v, want %v", got, test.want)
			}
			if got := strictestLevel(t, evaluator, podTemplates(t, all)); got != test.want {
				t.Errorf("the strictest standard that admits the pods is %v, want %v", got, test.want)
			}
		})
	}
}

// strictestLevel returns the strictest level that admits all pods.
func strictestLevel(t *testing.T, evaluator psapolicy.Evaluator, pods map[string]*corev1.PodTemplateSpec) psaapi.Level {
	t.Helper()
	if len(pods) == 0 {
		t.Fatal("there are no pods")
	}
	for _, level := range []psaapi.Level{psaapi.LevelRestricted, psaapi.LevelBaseline} {
		var forbidden []string
		for key, pod := range pods {
			results := evaluator.EvaluatePod(psaapi.LevelVersion{Level: level, Version: psaapi.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)
			if result := psapolicy.AggregateCheckResults(results); !result.Allowed {
				forbidden = append(forbidden, fmt.Sprintf("%s: %s", key, result.ForbiddenDetail()))
			}
		}
		if len(forbidden) == 0 {
			return level
		}
		t.Logf("%s forbids %s", level, strings.Join(forbidden, "; "))
	}
	return psaapi.LevelPrivileged
}

// podTemplates returns the templates of the pods of workloads, by the keys of the workloads.
func podTemplates(t *testing.T, all objects) map[string]*corev1.PodTemplateSpec {
	t.Helper()
	pods := map[string]*corev1.PodTemplateSpec{}
	for key, object := range all {
		spec, _ := object["spec"].(map[string]any)
		if object["kind"] == "CronJob" {
			spec = spec["jobTemplate"].(map[string]any)["spec"].(map[string]any)
		}
		template, hasPods := spec["template"].(map[string]any)
		if !hasPods {
			continue
		}
		pod := &corev1.PodTemplateSpec{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		pods[key] = pod
	}
	return pods
}

// documentedHostNetwork returns the values that docs/operate.md has for another port of the nodes.
func documentedHostNetwork(t *testing.T) string {
	t.Helper()
	document := readFile(t, "../../../docs/operate.md")
	patch := readFile(t, "testdata/host-network/kustomization.yaml")
	if patch = patch[strings.Index(patch, "\npatches:\n")+1:]; !strings.Contains(document, patch) {
		t.Errorf("docs/operate.md has another patch than testdata/host-network:\n%s", patch)
	}
	_, after, _ := strings.Cut(document, "\nhostNetwork:\n")
	values, _, found := strings.Cut(after, "```\n")
	if !found {
		t.Fatal("docs/operate.md has no values of the chart for the network of the host")
	}
	return "\nhostNetwork:\n" + values
}
