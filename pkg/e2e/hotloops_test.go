// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestOrderOfVariablesIsKept: variables reach the Deployment in the order in which the user wrote them. Nothing is
// written as long as they stay the same ones, in whatever order somebody else has put them.
func TestOrderOfVariablesIsKept(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	written := manyVariables()
	n.createReady(newBox("web", withEnvs(written...)))
	expectEqual(t, "variables of the Deployment", written, variablesOf(n.deployment("web")))
	n.expectConverged("web")

	half := len(written) / 2
	swapped := append(slices.Clone(written[half:]), written[:half]...)
	n.change("web", withEnvs(swapped...))
	n.awaitReady("web")
	expectEqual(t, "variables after the box has them in another order", swapped, variablesOf(n.deployment("web")))
	n.expectConverged("web")

	reversed := slices.Clone(swapped)
	slices.Reverse(reversed)
	value, err := json.Marshal(reversed)
	if err != nil {
		t.Fatal(err)
	}
	n.patchDeployment("web", fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": %s}]`, value))
	n.awaitDeployment("web", "has its variables in the box's order again", func(d *appsv1.Deployment) error {
		if diff := cmp.Diff(swapped, variablesOf(d)); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

// manyVariables are in an order that is neither that of the alphabet nor its reverse.
func manyVariables() []corev1.EnvVar {
	const count, step = 50, 17
	var variables []corev1.EnvVar
	for i := range count {
		variables = append(variables, value(fmt.Sprintf("VARIABLE_%02d", i*step%count), fmt.Sprint(i)))
	}
	return variables
}

func variablesOf(deployment *appsv1.Deployment) []corev1.EnvVar {
	return deployment.Spec.Template.Spec.Containers[0].Env
}

// TestAdditionsAreNoDrift adds to the children what injectors and people add, while nothing else happens to them.
func TestAdditionsAreNoDrift(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", withEnvs(value("OWN", "1"))))
	const metadata = `{"annotations": {"example.com/note": "mine"}, "labels": {"example.com/team": "ours"}}`
	additions := fmt.Sprintf(`{"metadata": %[1]s, "spec": {"template": {"metadata": %[1]s, "spec": {
		"initContainers": [{"name": "prepare-proxy", "image": "proxy:1"}],
		"containers": [
			{"name": "proxy", "image": "proxy:1", "volumeMounts": [{"name": "certificates", "mountPath": "/certificates"}]},
			{"name": "web", "env": [{"name": "PROXY", "value": "localhost"}], "volumeMounts": [{"name": "certificates", "mountPath": "/certificates"}]}
		],
		"volumes": [{"name": "certificates", "emptyDir": {}}],
		"tolerations": [{"key": "dedicated", "operator": "Exists"}]}}}}`, metadata)
	_, err := n.deployments.Patch(n.ctx, "web", types.StrategicMergePatchType, []byte(additions), metav1.PatchOptions{FieldManager: somebodyElse})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.services.Patch(n.ctx, "web", types.MergePatchType, []byte(`{"metadata": `+metadata+`}`), metav1.PatchOptions{FieldManager: somebodyElse})
	if err != nil {
		t.Fatal(err)
	}
	n.expectConverged("web")
	expectAdditions := func() {
		t.Helper()
		deployment := n.deployment("web")
		expectForeign(t, "Deployment", deployment)
		expectForeign(t, "pod template", &deployment.Spec.Template)
		expectForeign(t, "Service", n.service("web"))
		pod := deployment.Spec.Template.Spec
		expectEqual(t, "containers", []string{"proxy", "web"}, slices.Sorted(slices.Values(namesOf(pod.Containers))))
		expectEqual(t, "init containers", []string{"prepare-proxy"}, namesOf(pod.InitContainers))
		expectEqual(t, "number of volumes", 1, len(pod.Volumes))
		expectEqual(t, "number of tolerations", 1, len(pod.Tolerations))
		web := pod.Containers[slices.Index(namesOf(pod.Containers), "web")]
		if !slices.Contains(web.Env, value("PROXY", "localhost")) || !slices.Contains(web.Env, value("OWN", "1")) {
			t.Errorf("the variables are %v", web.Env)
		}
	}
	expectAdditions()

	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{"--verbose"} })
	n.expectConverged("web")
	expectAdditions()
}
