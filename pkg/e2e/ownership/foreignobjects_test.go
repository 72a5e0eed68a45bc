// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// maxTakeover is the timeout for a child to be created after its obstacle ends. On an idle machine, it takes two seconds at most.
const maxTakeover = 5 * time.Second

// TestForeignObjectIsNotTakenOver checks boxes for whose child an object of another owner with the name exists.
func TestForeignObjectIsNotTakenOver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind   string
		create func(n *framework.Namespace) error
		read   func(n *framework.Namespace) (metav1.Object, error)
		delete func(n *framework.Namespace) error
	}{
		{
			kind: "Deployment",
			create: func(n *framework.Namespace) error {
				_, err := n.Deployments.Create(n.Ctx, framework.ForeignDeployment("web"), metav1.CreateOptions{})
				return err
			},
			read: func(n *framework.Namespace) (metav1.Object, error) {
				return n.Deployments.Get(n.Ctx, "web", metav1.GetOptions{})
			},
			delete: func(n *framework.Namespace) error {
				return n.Deployments.Delete(n.Ctx, "web", metav1.DeleteOptions{})
			},
		},
		{
			kind: "Service",
			create: func(n *framework.Namespace) error {
				_, err := n.Services.Create(n.Ctx, framework.ForeignService("web"), metav1.CreateOptions{})
				return err
			},
			read: func(n *framework.Namespace) (metav1.Object, error) {
				return n.Services.Get(n.Ctx, "web", metav1.GetOptions{})
			},
			delete: func(n *framework.Namespace) error {
				return n.Services.Delete(n.Ctx, "web", metav1.DeleteOptions{})
			},
		},
	} {
		t.Run("a "+test.kind+" of the box's name is left alone", func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			if err := test.create(n); err != nil {
				t.Fatal(err)
			}
			before := awaitSettled(n, test.read)

			n.CreateBox(framework.NewBox("web"))
			n.AwaitNotOwned("web")
			n.Events.Await("web", "NotOwned", test.kind+" named web")
			n.Eventually("the table says so", func() error {
				if table := n.Kubectl.Run("get", "modelbox", "web"); !strings.Contains(table, "NotApplied") {
					return errors.New(table)
				}
				return nil
			})

			// A change of the box does not take it over either.
			n.UpdateBox("web", framework.WithImage(framework.NewImage))
			n.AwaitNotOwned("web")
			after, err := test.read(n)
			if err != nil {
				t.Fatal(err)
			}
			framework.ExpectEqual(t, "resourceVersion", before.GetResourceVersion(), after.GetResourceVersion())

			if err := test.delete(n); err != nil {
				t.Fatal(err)
			}
			freed, box := time.Now(), n.GetBox("web")
			n.Eventually("the box takes its place", func() error {
				now, err := test.read(n)
				if err != nil {
					return err
				}
				if owner := metav1.GetControllerOf(now); owner == nil || owner.UID != box.UID {
					return fmt.Errorf("it belongs to %v", owner)
				}
				return nil
			})
			if took := time.Since(freed); took > maxTakeover {
				t.Errorf("that took %s, want %s at most", took, maxTakeover)
			}
			n.AwaitReady("web")
		})
	}
}

// awaitSettled waits until the cluster has stopped writing the status of an object.
func awaitSettled(n *framework.Namespace, read func(*framework.Namespace) (metav1.Object, error)) metav1.Object {
	n.T.Helper()
	var object metav1.Object
	n.Eventually("the other object is settled", func() (err error) {
		if object, err = read(n); err != nil {
			return err
		}
		if deployment, ok := object.(*appsv1.Deployment); ok {
			return framework.CheckRolledOut(deployment)
		}
		return nil
	})
	return object
}
