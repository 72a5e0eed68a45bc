// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestIgnoredDriftStays sets fields that a box ignores as another client, by a patch and by server-side apply, and one that the box
// does not ignore. The box stays Applied, reports the fields that other managers have, and can be changed in everything else.
func TestIgnoredDriftStays(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
		spec.Annotations = map[string]string{"example.com/team": "ours"}
		spec.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{
			Deployment: []string{"spec.template.spec.containers[*].resources"},
			Service:    []string{"metadata.annotations[example.com/team]"},
		}
	}))
	framework.ExpectEqual(t, "CPU of a new Deployment", "1", cpuOf(n.GetDeployment("web")))

	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/cpu", "value": "3"}]`)
	force := true
	applied := `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "annotations": {"example.com/team": "theirs"}}}`
	if _, err := n.Services.Patch(n.Ctx, "web", types.ApplyPatchType, []byte(applied), metav1.PatchOptions{FieldManager: framework.OtherManager, Force: &force}); err != nil {
		t.Fatal(err)
	}
	n.AwaitBox("web", "reports the fields of other managers", func(box *modelv1.ModelBox) error {
		condition := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied)
		for _, words := range []string{`resources.limits.cpu of Deployment web`, "metadata.annotations.example.com/team of Service web"} {
			if condition.Status != metav1.ConditionTrue || !strings.Contains(condition.Message, words) {
				return fmt.Errorf("its condition is %s: %s", condition.Status, condition.Message)
			}
		}
		return nil
	})
	expectTheirs := func(when string) {
		t.Helper()
		framework.ExpectEqual(t, "CPU "+when, "3", cpuOf(n.GetDeployment("web")))
		framework.ExpectEqual(t, "annotation of the Service "+when, "theirs", n.GetService("web").Annotations["example.com/team"])
	}
	n.AwaitReady("web")
	n.ExpectConverged("web")
	expectTheirs("after many a look at the box")

	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/minReadySeconds", "value": 77}]`)
	n.AwaitDeployment("web", "has the minReadySeconds of the box again", func(d *appsv1.Deployment) error {
		if d.Spec.MinReadySeconds == 77 {
			return fmt.Errorf("it has %d", d.Spec.MinReadySeconds)
		}
		return nil
	})
	expectTheirs("after a restore")

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Image = framework.NewImage
		spec.Ports[0].Port++
	})
	n.AwaitReady("web")
	framework.ExpectEqual(t, "image", framework.NewImage, imageOf(n.GetDeployment("web")))
	expectTheirs("after a change of the box")

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.IgnoreDrift = nil })
	n.AwaitDeployment("web", "has the CPU of the box again", func(d *appsv1.Deployment) error {
		if cpu := cpuOf(d); cpu != "1" {
			return fmt.Errorf("it has %s", cpu)
		}
		return nil
	})
	n.AwaitService("web", "has the annotation of the box again", func(s *corev1.Service) error {
		if team := s.Annotations["example.com/team"]; team != "ours" {
			return fmt.Errorf("it has %s", team)
		}
		return nil
	})
}

func cpuOf(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Spec.Containers[0].Resources.Limits.Cpu().String()
}
