// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// syncs is the number of syncs of a box in ExpectConverged.
const syncs = 3

// ExpectConverged checks that repeated syncs of a settled box write nothing.
func (n *Namespace) ExpectConverged(box string) {
	n.T.Helper()
	n.AwaitApplied(box)
	kind := n.GetBox(box).Spec.Workload
	n.awaitSettled(kind, box)
	n.sync(box) // this also writes a delayed status
	workload, service := n.GetWorkload(kind, box), n.GetService(box)
	writes, statuses := n.Audit.ChildWrites(box), n.Audit.StatusWrites(box)

	for range syncs {
		n.sync(box)
	}

	ExpectEqual(n.T, "writes of the children of box "+box, writes, n.Audit.ChildWrites(box))
	ExpectEqual(n.T, "writes of the status of box "+box+", two for each sync", 2*syncs, n.Audit.StatusWrites(box)-statuses)
	now := n.GetWorkload(kind, box)
	ExpectEqual(n.T, "generation of the workload of "+box, workload.GetGeneration(), now.GetGeneration())
	ExpectEqual(n.T, "resourceVersion of the workload of "+box, workload.GetResourceVersion(), now.GetResourceVersion())
	ExpectEqual(n.T, "resourceVersion of Service "+box, service.ResourceVersion, n.GetService(box).ResourceVersion)
	n.Events.ExpectNoneRestored(box)
}

// awaitSettled waits until the controller of a workload has stopped writing.
func (n *Namespace) awaitSettled(kind modelv1.Workload, box string) {
	n.T.Helper()
	if kind != modelv1.WorkloadDeployment {
		n.AwaitReady(box)
		return
	}
	n.AwaitDeployment(box, "is settled", func(deployment *appsv1.Deployment) error {
		if terminating := ptr.Deref(deployment.Status.TerminatingReplicas, 0); terminating > 0 {
			return fmt.Errorf("%d pods are on their way out", terminating)
		}
		return CheckRolledOut(deployment)
	})
}

// sync triggers a sync of a box without a change of the box or its children: it changes the status, and waits until the sync
// restores it.
func (n *Namespace) sync(box string) {
	n.T.Helper()
	selector := n.GetBox(box).Status.Selector
	patch := []byte(`{"status": {"selector": "to be synced"}}`)
	if _, err := n.Boxes.Patch(n.Ctx, box, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		n.T.Fatalf("writing the status of box %s: %v", box, err)
	}
	n.AwaitBox(box, "was synced", func(box *modelv1.ModelBox) error {
		if box.Status.Selector != selector {
			return fmt.Errorf("its selector is %q", box.Status.Selector)
		}
		return nil
	})
}
