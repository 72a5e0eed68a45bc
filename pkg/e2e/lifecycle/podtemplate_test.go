// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestPodTemplateIsMergedIntoDeployment adds an overlay to a box, and removes it again.
func TestPodTemplateIsMergedIntoDeployment(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	apply := func(overlay string) *appsv1.Deployment {
		n.T.Helper()
		n.Kubectl.RunWithInput(framework.Manifest("image: 'nginx:1.7.9', minReadySeconds: 0, ports: [{port: 80}], envs: [{name: A, value: box}]"+overlay), "apply", "--filename=-")
		n.AwaitReady("web")
		return n.GetDeployment("web")
	}

	template := apply(`, podTemplate: {metadata: {annotations: {team: shop}}, spec: {terminationGracePeriodSeconds: 5,
		containers: [{name: web, env: [{name: B, value: overlay}]}]}}`).Spec.Template
	framework.ExpectEqual(t, "annotation", "shop", template.Annotations["team"])
	framework.ExpectEqual(t, "grace period", int64(5), *template.Spec.TerminationGracePeriodSeconds)
	framework.ExpectEqual(t, "number of containers", 1, len(template.Spec.Containers))
	framework.ExpectEqual(t, "image, which the overlay does not mention", "nginx:1.7.9", template.Spec.Containers[0].Image)
	values := map[string]string{}
	for _, variable := range template.Spec.Containers[0].Env {
		values[variable.Name] = variable.Value
	}
	framework.ExpectEqual(t, "variables of both", map[string]string{"A": "box", "B": "overlay"}, values)

	template = apply("").Spec.Template
	framework.ExpectEqual(t, "annotation that went with the overlay", "", template.Annotations["team"])
	framework.ExpectEqual(t, "grace period of a box with ports again", int64(40), *template.Spec.TerminationGracePeriodSeconds)

	apply(", podTemplate: {metadata: {labels: {app.kubernetes.io/managed-by: Helm}}}")
	framework.ExpectEqual(t, "number of pods of a box whose pods have another managed-by label", 1, len(n.GetBox("web").Status.PodNames))

	for overlay, want := range map[string]string{
		"{metadata: {labels: {modelbox: other}}}":                 "spec.podTemplate.metadata.labels[modelbox]",
		"{spec: {containers: [{name: web, image: busybox}]}}":     "spec.podTemplate.spec.containers[0].image: Forbidden: " + validation.MustUseImageOfBox,
		"{spec: {containers: [{name: main, env: [{name: A}]}]}}":  validation.MustHaveImage("main", validation.MainContainerIs("web")),
		"{spec: {restartPolicy: Never}}":                          "spec.podTemplate.spec.restartPolicy",
		"{spec: {containers: [{image: busybox}]}}":                "spec.podTemplate.spec.containers[0].name",
		"{spec: {tolerations: [{operator: Sometimes}]}}":          "spec.podTemplate.spec.tolerations[0].operator",
		"{spec: {containers: [{name: beside, image: ''}]}}":       "image",
		"{spec: {nodeSelectors: {disk: ssd}}}":                    "unknown field",
		"{spec: {volumes: [{name: data, hostPath: {path: ''}}]}}": "hostPath",
	} {
		complaint := n.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.7.9', podTemplate: "+overlay), "apply", "--filename=-")
		if !strings.Contains(complaint, want) {
			t.Errorf("%s: the complaint does not name %s:\n%s", overlay, want, complaint)
		}
	}
}
