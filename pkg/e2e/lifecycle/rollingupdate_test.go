// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestRollingUpdateIsDefaultedAndNeverEmpty checks that rollingUpdate has a default in the stored box, and that an empty value is
// refused.
func TestRollingUpdateIsDefaultedAndNeverEmpty(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	share := intstr.FromString("25%")
	for _, spec := range []string{
		"image: 'nginx:1.7.9', replicas: 2, minReadySeconds: 0",
		"image: 'nginx:1.7.9', replicas: 2, minReadySeconds: 0, rollingUpdate: null",
	} {
		n.Kubectl.RunWithInput(framework.Manifest(spec), "apply", "--filename=-")
		box := n.AwaitReady("web")
		framework.ExpectEqual(t, "rollingUpdate of the box", modelv1.NewRollingUpdate(share), box.Spec.RollingUpdate)
		framework.ExpectEqual(t, "strategy of the Deployment", appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &share, MaxUnavailable: &share},
		}, n.GetDeployment("web").Spec.Strategy)
	}
	for _, empty := range []string{"''", "0", "'0'", "'0%'", "{}"} {
		complaint := n.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.7.9', rollingUpdate: "+empty), "apply", "--filename=-")
		if !strings.Contains(complaint, "rollingUpdate") {
			t.Errorf("%s: the complaint does not name the field:\n%s", empty, complaint)
		}
	}
}
