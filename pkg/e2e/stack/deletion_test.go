// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestStackIsDeletedInReverseOrder(t *testing.T) {
	t.Parallel()
	for _, cascade := range []string{"background", "foreground"} {
		t.Run(cascade, func(t *testing.T) {
			t.Parallel()
			s := createStack(t, component("db"), component("api", "db", "mail"), component("web", "api"), external("mail", "192.0.2.1"))
			s.awaitReady()
			changes := s.watchBoxes(func(change watch.EventType, box *modelv1.ModelBox) string {
				switch {
				case change == watch.Deleted:
					return "gone " + box.Name
				case box.DeletionTimestamp != nil:
					return "deleted " + box.Name
				default:
					return ""
				}
			})
			s.Kubectl.Run("delete", "mst", "shop", "--cascade="+cascade, "--timeout="+framework.Patience.String())
			s.expect(changes, "deleted web", "gone web", "deleted api", "gone api", "deleted db", "gone db")
			if err := s.CheckChildrenGone(); err != nil {
				t.Errorf("the stack went before its children: %v", err)
			}
		})
	}
}

func TestStackThatNeverStartedIsDeleted(t *testing.T) {
	t.Parallel()
	db := component("db")
	framework.Unschedulable(db.Box)
	s := createStack(t, db, component("web", "db"))
	s.AwaitReadyCondition("db", metav1.ConditionFalse, "Unschedulable")
	s.Kubectl.Run("delete", "mst", "shop", "--timeout="+framework.Patience.String())
	s.Eventually("nothing is left", s.CheckChildrenGone)
	framework.ExpectEqual(t, "boxes", "[]", sprint(s.boxNames()))
}

func TestOrphanDeletionKeepsBoxes(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("web", "db"))
	s.awaitReady()
	before := s.GetBox("db").UID
	s.Kubectl.Run("delete", "mst", "shop", "--cascade=orphan", "--timeout="+framework.Patience.String())
	for _, name := range []string{"db", "web"} {
		framework.ExpectEqual(t, "owners of box "+name, 0, len(s.AwaitReady(name).OwnerReferences))
	}
	framework.ExpectEqual(t, "UID", before, s.GetBox("db").UID)
	s.Eventually("no record of the stack is left", func() error {
		records, err := s.ControlPlane.KubeClient.AppsV1().ControllerRevisions(s.Name).List(s.Ctx, metav1.ListOptions{LabelSelector: modelv1.StackLabel + "=shop"})
		if err == nil && len(records.Items) > 0 {
			err = fmt.Errorf("there is %s", records.Items[0].Name)
		}
		return err
	})
}
