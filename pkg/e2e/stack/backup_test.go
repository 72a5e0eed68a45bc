// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// backedUp are the resources of a backup, in the order in which they are restored: children come before their owners.
var backedUp = []schema.GroupVersionResource{
	appsv1.SchemeGroupVersion.WithResource("deployments"),
	corev1.SchemeGroupVersion.WithResource("services"),
	modelv1.SchemeGroupVersion.WithResource("modelboxes"),
	modelv1.SchemeGroupVersion.WithResource("modelstacks"),
}

// TestABackupOfANamespaceIsRestored creates all objects of a namespace again, like backup programs: without UIDs, owner references
// and status, and with their managed fields.
func TestABackupOfANamespaceIsRestored(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("web", "db"))
	s.CreateBox(framework.NewBox("alone"))
	s.awaitReady()
	s.AwaitReady("alone")
	client, err := dynamic.NewForConfig(s.ControlPlane.Config)
	if err != nil {
		t.Fatal(err)
	}

	var backup [][]unstructured.Unstructured
	for _, resource := range backedUp {
		list, err := client.Resource(resource).Namespace(s.Name).List(s.Ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		backup = append(backup, list.Items)
	}
	s.Kubectl.Run("delete", "modelstack/shop", "mb/alone", "--cascade=foreground", "--timeout="+framework.CollectorPatience.String())

	restored := map[string]types.UID{}
	for i, resource := range backedUp {
		for _, object := range backup[i] {
			stripped := stripped(t, &object)
			created, err := client.Resource(resource).Namespace(s.Name).Create(s.Ctx, stripped, metav1.CreateOptions{FieldManager: "backup"})
			if err != nil {
				t.Fatal(err)
			}
			restored[resource.Resource+" "+object.GetName()] = created.GetUID()
			// A create drops the managed fields.
			fields, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": stripped.GetManagedFields()}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Resource(resource).Namespace(s.Name).Patch(s.Ctx, object.GetName(), types.MergePatchType, fields, metav1.PatchOptions{FieldManager: "backup"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	framework.ExpectEqual(t, "objects that are restored", 10, len(restored))

	s.awaitReady()
	s.AwaitReady("alone")
	for _, resource := range backedUp[:3] {
		s.Eventually(resource.Resource+" belong to what was restored", func() error {
			list, err := client.Resource(resource).Namespace(s.Name).List(s.Ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			for i := range list.Items {
				object := &list.Items[i]
				if uid := restored[resource.Resource+" "+object.GetName()]; uid != object.GetUID() {
					return fmt.Errorf("%s has UID %s and was restored with %s", object.GetName(), object.GetUID(), uid)
				}
				owner := "modelboxes " + object.GetName()
				if resource.Resource == "modelboxes" {
					owner = "modelstacks shop"
				}
				controller := metav1.GetControllerOfNoCopy(object)
				if isAlone := owner == "modelstacks shop" && object.GetName() == "alone"; isAlone != (controller == nil) {
					return fmt.Errorf("%s is controlled by %v", object.GetName(), controller)
				}
				if controller != nil && controller.UID != restored[owner] {
					return fmt.Errorf("%s is controlled by %v and not by %s", object.GetName(), controller, owner)
				}
			}
			return nil
		})
	}
}

// stripped returns the object in a backup, and the object that is created from it.
func stripped(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created := object.DeepCopy()
	entries := created.GetManagedFields()
	for i := range entries {
		// The backup is from the day before.
		applied := metav1.NewTime(entries[i].Time.Add(-24 * time.Hour))
		entries[i].Time = &applied
	}
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	created.Object["metadata"] = metadata
	created.SetLabels(object.GetLabels())
	created.SetAnnotations(object.GetAnnotations())
	created.SetManagedFields(entries)
	delete(created.Object, "status")
	if object.GetKind() == "Service" {
		for _, field := range []string{"clusterIP", "clusterIPs"} {
			unstructured.RemoveNestedField(created.Object, "spec", field)
		}
	}
	return created
}
