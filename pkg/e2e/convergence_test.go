// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// looks is how often expectConverged has a box compared with its children.
const looks = 3

// expectConverged checks that a box which has nothing to do does nothing, however often it is looked at.
func (n *namespace) expectConverged(box string) {
	n.t.Helper()
	n.awaitApplied(box)
	n.awaitDeployment(box, "is settled", func(deployment *appsv1.Deployment) error {
		if terminating := ptr.Deref(deployment.Status.TerminatingReplicas, 0); terminating > 0 {
			return fmt.Errorf("%d pods are on their way out", terminating)
		}
		return isComplete(deployment)
	})
	n.lookAt(box) // what the status has put off is written with this
	deployment, service := n.deployment(box), n.service(box)
	writes, statuses := n.writesOfChildren(box), n.writesOfStatus(box)

	for range looks {
		n.lookAt(box)
	}

	expectEqual(n.t, "writes of the children of box "+box, writes, n.writesOfChildren(box))
	expectEqual(n.t, "writes of the status of box "+box+", two for each look", 2*looks, n.writesOfStatus(box)-statuses)
	now := n.deployment(box)
	expectEqual(n.t, "generation of Deployment "+box, deployment.Generation, now.Generation)
	expectEqual(n.t, "resourceVersion of Deployment "+box, deployment.ResourceVersion, now.ResourceVersion)
	expectEqual(n.t, "resourceVersion of Service "+box, service.ResourceVersion, n.service(box).ResourceVersion)
	n.expectNothingRestored(box)
}

// lookAt has a box compared with its children, without a change of either: by a status that is not the controller's,
// which is put right when the box was looked at.
func (n *namespace) lookAt(box string) {
	n.t.Helper()
	selector := n.box(box).Status.Selector
	patch := []byte(`{"status": {"selector": "looked at"}}`)
	if _, err := n.boxes.Patch(n.ctx, box, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		n.t.Fatalf("writing the status of box %s: %v", box, err)
	}
	n.awaitBox(box, "was looked at", func(box *modelv1.ModelBox) error {
		if box.Status.Selector != selector {
			return fmt.Errorf("its selector is %q", box.Status.Selector)
		}
		return nil
	})
}

// expectNothingRestored checks that no change of a child was ever taken back.
func (n *namespace) expectNothingRestored(box string) {
	n.t.Helper()
	for _, event := range n.eventsAbout(box) {
		if strings.HasPrefix(event.Reason, "Restored") {
			n.t.Error(event.Note)
		}
	}
}

// writesOfChildren are what the server asked the cluster for about the Deployment and the Service of a box.
func (n *namespace) writesOfChildren(box string) []string {
	n.t.Helper()
	var writes []string
	for _, write := range n.clusterWrites() {
		if write.ObjectRef.Name == box {
			writes = append(writes, write.Verb+" "+write.ObjectRef.Resource)
		}
	}
	return writes
}

// writesOfStatus is how often the status of a box was written.
func (n *namespace) writesOfStatus(box string) int {
	n.t.Helper()
	count := 0
	for _, write := range n.boxWrites() {
		if write.ObjectRef.Name == box && write.ObjectRef.Subresource == "status" {
			count++
		}
	}
	return count
}
