// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestExceededQuotaIsReportedAndRetried checks that the status reports a Deployment that exceeds the quota, that the Service is
// still created, and that the controller retries.
func TestExceededQuotaIsReportedAndRetried(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
	quota, err := quotas.Create(n.Ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.Eventually("the cluster enforces the quota", func() error {
		probe := framework.ForeignDeployment("")
		probe.GenerateName = "probe-"
		if _, err := n.Deployments.Create(n.Ctx, probe, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
			return fmt.Errorf("creating a Deployment: %v", err)
		}
		return nil
	})
	n.CreateBox(framework.NewBox("web"))
	n.AwaitBox("web", "says that it does not fit", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonQuotaExceeded)
	})
	n.Events.Await("web", "QuotaExceeded", "count/deployments.apps")
	n.AwaitService("web", "is there", func(*corev1.Service) error { return nil })

	if err := quotas.Delete(n.Ctx, quota.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
}
