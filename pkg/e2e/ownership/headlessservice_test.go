// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestHeadlessServiceIsNotTakenFromAnotherBox checks two boxes that need a Service with the same name.
func TestHeadlessServiceIsNotTakenFromAnotherBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("db-headless"))
	before := n.GetService("db-headless")

	n.CreateBox(framework.NewBox("db", func(spec *modelv1.ModelBoxSpec) { spec.Workload = modelv1.WorkloadStatefulSet }))
	n.AwaitNotOwned("db")
	n.Events.Await("db", "NotOwned", "Service named db-headless")
	after := n.GetService("db-headless")
	framework.ExpectEqual(t, "version of the other box's Service", before.ResourceVersion, after.ResourceVersion)
	framework.ExpectEqual(t, "name of the box that has the Service", "db-headless", metav1.GetControllerOf(after).Name)

	if err := n.Boxes.Delete(n.Ctx, "db-headless", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("db")
	framework.ExpectEqual(t, "name of the box that has the Service then", "db", metav1.GetControllerOf(n.GetService("db-headless")).Name)
}
