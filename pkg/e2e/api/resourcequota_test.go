// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const boxCount corev1.ResourceName = "count/modelboxes.model.github.com"

// TestResourceQuotaCountsBoxes: a namespace has no more boxes than its quota allows, however many are created at once.
func TestResourceQuotaCountsBoxes(t *testing.T) {
	t.Parallel()
	const allowed, attempts = 3, 12
	n := framework.NewNamespace(t)
	quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
	if _, err := quotas.Create(n.Ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "boxes"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{boxCount: *resource.NewQuantity(allowed, resource.DecimalSI)}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("the cluster counts boxes", func() error {
		quota, err := quotas.Get(n.Ctx, "boxes", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if _, isCounted := quota.Status.Used[boxCount]; !isCounted {
			return fmt.Errorf("the status is %+v", quota.Status)
		}
		return nil
	})

	errs := make([]error, attempts)
	var running sync.WaitGroup
	for i := range attempts {
		running.Go(func() {
			_, errs[i] = n.Boxes.Create(n.Ctx, framework.NewBox(fmt.Sprintf("web-%d", i), framework.Pause), metav1.CreateOptions{})
		})
	}
	running.Wait()
	created := 0
	for _, err := range errs {
		switch {
		case err == nil:
			created++
		case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: boxes, requested: "+string(boxCount)+"=1"):
			t.Errorf("one that does not fit: %v", err)
		}
	}
	if created > allowed {
		t.Errorf("%d boxes were created and %d are allowed", created, allowed)
	}
	boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "boxes", created, len(boxes.Items))
	// As many at once may be refused because of each other; one after the other they fit.
	n.Eventually("the quota is used up", func() error {
		_, err := n.Boxes.Create(n.Ctx, framework.NewBox("more-"+fmt.Sprint(created), framework.Pause), metav1.CreateOptions{})
		if err == nil {
			created++
		}
		if created < allowed {
			return fmt.Errorf("there are %d of %d boxes: %v", created, allowed, err)
		}
		return nil
	})

	if err := n.Boxes.DeleteCollection(n.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("what was deleted makes room", func() error {
		_, err := n.Boxes.Create(n.Ctx, framework.NewBox("again", framework.Pause), metav1.CreateOptions{})
		return err
	})
}
