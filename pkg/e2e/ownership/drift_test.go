// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestOrderOfVariablesIsKept checks that variables reach the Deployment in the order in which the user wrote them. The server
// writes nothing as long as they stay the same, even if another client has changed their order.
func TestOrderOfVariablesIsKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	written := manyVariables()
	n.CreateReadyBox(framework.NewBox("web", framework.WithEnvs(written...)))
	framework.ExpectEqual(t, "variables of the Deployment", written, variablesOf(n.GetDeployment("web")))
	n.ExpectConverged("web")

	half := len(written) / 2
	swapped := append(slices.Clone(written[half:]), written[:half]...)
	n.UpdateBox("web", framework.WithEnvs(swapped...))
	n.AwaitReady("web")
	framework.ExpectEqual(t, "variables after the box has them in another order", swapped, variablesOf(n.GetDeployment("web")))
	n.ExpectConverged("web")

	reversed := slices.Clone(swapped)
	slices.Reverse(reversed)
	value, err := json.Marshal(reversed)
	if err != nil {
		t.Fatal(err)
	}
	n.PatchDeployment("web", fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": %s}]`, value))
	n.AwaitDeployment("web", "has its variables in the box's order again", func(d *appsv1.Deployment) error {
		if diff := cmp.Diff(swapped, variablesOf(d)); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

// manyVariables returns variables in an order that is neither alphabetical nor its reverse.
func manyVariables() []corev1.EnvVar {
	const count, step = 50, 17
	var variables []corev1.EnvVar
	for i := range count {
		variables = append(variables, framework.EnvValue(fmt.Sprintf("VARIABLE_%02d", i*step%count), fmt.Sprint(i)))
	}
	return variables
}

func variablesOf(deployment *appsv1.Deployment) []corev1.EnvVar {
	return deployment.Spec.Template.Spec.Containers[0].Env
}

// TestAdditionsAreNoDrift adds fields to the children like injectors and users, without other changes.
func TestAdditionsAreNoDrift(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithEnvs(framework.EnvValue("OWN", "1"))))
	const metadata = `{"annotations": {"example.com/note": "mine"}, "labels": {"example.com/team": "ours"}}`
	additions := fmt.Sprintf(`{"metadata": %[1]s, "spec": {"template": {"metadata": %[1]s, "spec": {
		"initContainers": [{"name": "prepare-proxy", "image": "proxy:1"}],
		"containers": [
			{"name": "proxy", "image": "proxy:1", "volumeMounts": [{"name": "certificates", "mountPath": "/certificates"}]},
			{"name": "web", "env": [{"name": "PROXY", "value": "localhost"}], "volumeMounts": [{"name": "certificates", "mountPath": "/certificates"}]}
		],
		"volumes": [{"name": "certificates", "emptyDir": {}}],
		"tolerations": [{"key": "dedicated", "operator": "Exists"}]}}}}`, metadata)
	_, err := n.Deployments.Patch(n.Ctx, "web", types.StrategicMergePatchType, []byte(additions), metav1.PatchOptions{FieldManager: framework.OtherManager})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Services.Patch(n.Ctx, "web", types.MergePatchType, []byte(`{"metadata": `+metadata+`}`), metav1.PatchOptions{FieldManager: framework.OtherManager})
	if err != nil {
		t.Fatal(err)
	}
	n.ExpectConverged("web")
	expectAdditions := func() {
		t.Helper()
		deployment := n.GetDeployment("web")
		expectForeign(t, "Deployment", deployment)
		expectForeign(t, "pod template", &deployment.Spec.Template)
		expectForeign(t, "Service", n.GetService("web"))
		pod := deployment.Spec.Template.Spec
		framework.ExpectEqual(t, "containers", []string{"proxy", "web"}, slices.Sorted(slices.Values(framework.ContainerNames(pod.Containers))))
		framework.ExpectEqual(t, "init containers", []string{"prepare-proxy"}, framework.ContainerNames(pod.InitContainers))
		framework.ExpectEqual(t, "number of volumes", 1, len(pod.Volumes))
		framework.ExpectEqual(t, "number of tolerations", 1, len(pod.Tolerations))
		web := pod.Containers[slices.Index(framework.ContainerNames(pod.Containers), "web")]
		if !slices.Contains(web.Env, framework.EnvValue("PROXY", "localhost")) || !slices.Contains(web.Env, framework.EnvValue("OWN", "1")) {
			t.Errorf("the variables are %v", web.Env)
		}
	}
	expectAdditions()

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{"--verbose"} })
	n.ExpectConverged("web")
	expectAdditions()
}
