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
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const boxCount corev1.ResourceName = "count/modelboxes.model.github.com"

// allowedBoxes is the number of boxes that the quota of newBoxQuota allows.
const allowedBoxes = 3

// TestResourceQuotaCountsBoxes checks that concurrent creations do not exceed the quota of a namespace.
func TestResourceQuotaCountsBoxes(t *testing.T) {
	t.Parallel()
	n := fillBoxQuota(t)

	// Concurrent creations may be refused because of each other. Sequential creations fit.
	n.Eventually("the quota is used up", func() error {
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil || len(boxes.Items) == allowedBoxes {
			return err
		}
		_, err = n.Boxes.Create(n.Ctx, framework.NewBox(fmt.Sprintf("more-%d", len(boxes.Items)), framework.Pause), metav1.CreateOptions{})
		return fmt.Errorf("there were %d of %d boxes, and one more: %v", len(boxes.Items), allowedBoxes, err)
	})

	if err := n.Boxes.DeleteCollection(n.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("what was deleted makes room", func() error {
		_, err := n.Boxes.Create(n.Ctx, framework.NewBox("again", framework.Pause), metav1.CreateOptions{})
		return err
	})
}

// TestQuotasOfManyNamespacesAreUsedAtOnce checks that a request does not wait for the quotas of other namespaces. All of them
// together would take longer than the timeout of a request.
func TestQuotasOfManyNamespacesAreUsedAtOnce(t *testing.T) {
	t.Parallel()
	const count = 100
	namespaces := make([]*framework.Namespace, count)
	for i := range namespaces {
		namespaces[i] = framework.NewNamespace(t)
		newBoxQuota(namespaces[i])
	}
	var running sync.WaitGroup
	for _, n := range namespaces {
		running.Go(func() {
			if _, err := n.Boxes.Create(n.Ctx, framework.NewBox("web", framework.Pause), metav1.CreateOptions{}); err != nil {
				t.Errorf("namespace %s: %v", n.Name, err)
			}
		})
	}
	running.Wait()
}

// fillBoxQuota returns a namespace with a quota, after the concurrent creation of more boxes than the quota allows.
//
// The quota controller of the cluster recalculates quotas when it starts, as it does during the first tests. It may then not have
// the newest boxes in its cache, so that a quota allows too many objects for a moment. In this case, fillBoxQuota uses another
// namespace.
func fillBoxQuota(t *testing.T) *framework.Namespace {
	t.Helper()
	const tries, attempts = 5, 4 * allowedBoxes
	for range tries {
		n := framework.NewNamespace(t)
		quota := newBoxQuota(n)
		errs := make([]error, attempts)
		var running sync.WaitGroup
		for i := range attempts {
			running.Go(func() {
				_, errs[i] = n.Boxes.Create(n.Ctx, framework.NewBox(fmt.Sprintf("web-%d", i), framework.Pause), metav1.CreateOptions{})
			})
		}
		running.Wait()
		if recalculated(n, quota) {
			t.Logf("in namespace %s the cluster recalculated the quota while boxes were created", n.Name)
			continue
		}

		created := 0
		for _, err := range errs {
			switch {
			case err == nil:
				created++
			case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: boxes, requested: "+string(boxCount)+"=1"):
				t.Errorf("one that does not fit: %v", err)
			}
		}
		if created > allowedBoxes {
			t.Errorf("%d boxes were created and %d are allowed", created, allowedBoxes)
		}
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		framework.ExpectEqual(t, "boxes", created, len(boxes.Items))
		return n
	}
	t.Fatalf("the cluster recalculated the quota in %d namespaces", tries)
	return nil
}

// newBoxQuota creates a quota of boxes, waits until the cluster has calculated its usage, and returns it.
func newBoxQuota(n *framework.Namespace) *corev1.ResourceQuota {
	n.T.Helper()
	quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
	quota, err := quotas.Create(n.Ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "boxes"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{boxCount: *resource.NewQuantity(allowedBoxes, resource.DecimalSI)}},
	}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	n.Eventually("the cluster counts boxes", func() error {
		if quota, err = quotas.Get(n.Ctx, quota.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		if _, isCounted := quota.Status.Used[boxCount]; !isCounted {
			return fmt.Errorf("the status is %+v", quota.Status)
		}
		return nil
	})
	return quota
}

// recalculated returns whether the usage of a quota has decreased since it was read, although no box was deleted.
func recalculated(n *framework.Namespace, since *corev1.ResourceQuota) bool {
	n.T.Helper()
	quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
	last, err := quotas.Get(n.Ctx, since.Name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	changes, err := quotas.Watch(n.Ctx, metav1.ListOptions{ResourceVersion: since.ResourceVersion, TimeoutSeconds: ptr.To(int64(framework.Patience.Seconds()))})
	if err != nil {
		n.T.Fatal(err)
	}
	defer changes.Stop()
	for before := since; before.ResourceVersion != last.ResourceVersion; {
		event, isOpen := <-changes.ResultChan()
		quota, isQuota := event.Object.(*corev1.ResourceQuota)
		if !isOpen || !isQuota {
			n.T.Fatalf("the watch of quotas ended with %+v", event)
		}
		if used := quota.Status.Used[boxCount]; used.Cmp(before.Status.Used[boxCount]) < 0 {
			return true
		}
		before = quota
	}
	return false
}
