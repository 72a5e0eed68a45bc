// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const boxCount corev1.ResourceName = "count/modelboxes.model.github.com"

// TestResourceQuotaCountsBoxes: a namespace has no more boxes than its quota allows, however many are created at once.
func TestResourceQuotaCountsBoxes(t *testing.T) {
	t.Parallel()
	const allowed, attempts = 3, 12
	n := newNamespace(t)
	quotas := plane.kube.CoreV1().ResourceQuotas(n.name)
	if _, err := quotas.Create(n.ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "boxes"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{boxCount: *resource.NewQuantity(allowed, resource.DecimalSI)}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.eventually("the cluster counts boxes", func() error {
		quota, err := quotas.Get(n.ctx, "boxes", metav1.GetOptions{})
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
			_, errs[i] = n.boxes.Create(n.ctx, newBox(fmt.Sprintf("web-%d", i), pause), metav1.CreateOptions{})
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
	boxes, err := n.boxes.List(n.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "boxes", created, len(boxes.Items))
	// As many at once may be refused because of each other; one after the other they fit.
	n.eventually("the quota is used up", func() error {
		_, err := n.boxes.Create(n.ctx, newBox("more-"+fmt.Sprint(created), pause), metav1.CreateOptions{})
		if err == nil {
			created++
		}
		if created < allowed {
			return fmt.Errorf("there are %d of %d boxes: %v", created, allowed, err)
		}
		return nil
	})

	if err := n.boxes.DeleteCollection(n.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.eventually("what was deleted makes room", func() error {
		_, err := n.boxes.Create(n.ctx, newBox("again", pause), metav1.CreateOptions{})
		return err
	})
}
