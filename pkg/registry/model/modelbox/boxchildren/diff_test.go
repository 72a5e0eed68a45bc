// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// newBoxWithService returns a box with a Service.
func newBoxWithService(changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u1"},
		Spec: modelv1.ModelBoxSpec{
			Image: "nginx:1.7.9",
			Envs:  []corev1.EnvVar{{Name: "MODE", Value: "debug"}},
			Ports: []corev1.ServicePort{{Port: 80}},
		},
	}
	for _, change := range changes {
		change(box)
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	return box
}

func rendered(t *testing.T, box *modelv1.ModelBox) []*unstructured.Unstructured {
	t.Helper()
	children, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		t.Fatal(err)
	}
	return children
}

// applied returns the child as it is once the server has applied it.
func applied(t *testing.T, child *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live := child.DeepCopy()
	own, err := fields.NewComparer(fields.NewTypeConverter()).OwnedFields(child)
	if err != nil {
		t.Fatal(err)
	}
	managed, err := fields.Encode(own)
	if err != nil {
		t.Fatal(err)
	}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: render.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: child.GetAPIVersion(), FieldsType: "FieldsV1", FieldsV1: managed,
	}})
	return live
}

// set sets a field of a live object as another field manager.
func set(t *testing.T, live *unstructured.Unstructured, manager, managed string, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(live.Object, value, path...); err != nil {
		t.Fatal(err)
	}
	live.SetManagedFields(append(live.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: live.GetAPIVersion(), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(managed),
	}))
}

func newClient(live ...*unstructured.Unstructured) *dynamicfake.FakeDynamicClient {
	lists := map[schema.GroupVersionResource]string{}
	for _, kind := range childkinds.All() {
		lists[kind.GroupVersionResource()] = kind.Kind + "List"
	}
	var objects []runtime.Object
	for _, object := range live {
		objects = append(objects, object)
	}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)
}

func mayGetAllKinds(schema.GroupVersionResource) bool { return true }

// linesOf are what a diff says: of each child a line, and below it one for each field.
func linesOf(diffs []modelv1.ModelBoxChildDiff) []string {
	var lines []string
	for i := range diffs {
		diff := &diffs[i]
		lines = append(lines, strings.TrimSuffix(strings.Join([]string{diff.APIVersion, diff.Kind, diff.Name, string(diff.Action), diff.Message}, " "), " "))
		for _, field := range diff.Fields {
			line := "  " + field.Path + ": " + field.Live + " -> " + field.Wanted + " by " + field.Manager
			if field.Ignored {
				line += ", ignored"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

const (
	sameDeployment = "apps/v1 Deployment web None"
	sameService    = "v1 Service web None"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	const editor, minReadySeconds = "kubectl-edit", `{"f:spec":{"f:minReadySeconds":{}}}`
	ignoring := func(box *modelv1.ModelBox) {
		box.Spec.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{Deployment: []string{"spec.minReadySeconds"}}
	}
	const (
		takenBack = "it has no controller, and it is taken back: it is a copy of the child of the box, as a restored backup leaves it"
		refused   = "it has no controller: delete it, give the box another name, or annotate the box with model.github.com/adopt=true to take it over"
	)
	deletedBox := func(box *modelv1.ModelBox) { box.UID = "u0" }
	restoredBox := func(box *modelv1.ModelBox) { box.UID = "u9" }
	owner := func(uid string) string {
		return fmt.Sprintf(`  metadata.ownerReferences[uid=%[1]q]:  -> {"apiVersion":"model.github.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"ModelBox","name":"web","uid":%[1]q} by `, uid)
	}
	adopting := func(box *modelv1.ModelBox) { box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"} }
	for _, row := range []struct {
		name string
		// before is what the live children were applied for, and live what became of the first two since.
		before, box *modelv1.ModelBox
		live        func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured
		want        []string
	}{
		{"children that are as the box asks for", newBoxWithService(), newBoxWithService(), both, []string{sameDeployment, sameService}},
		{"nothing is there", newBoxWithService(), newBoxWithService(), func(_, _ *unstructured.Unstructured) []*unstructured.Unstructured { return nil },
			[]string{"apps/v1 Deployment web Create", "v1 Service web Create"}},
		{"drift", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			set(t, deployment, editor, minReadySeconds, int64(77), "spec", "minReadySeconds")
			return both(deployment, service)
		}, []string{"apps/v1 Deployment web Update", "  spec.minReadySeconds: 77 -> 3 by kubectl-edit", sameService}},
		{"drift that is ignored", newBoxWithService(ignoring), newBoxWithService(ignoring), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			set(t, deployment, editor, minReadySeconds, int64(77), "spec", "minReadySeconds")
			return both(deployment, service)
		}, []string{sameDeployment, "  spec.minReadySeconds: 77 -> 3 by kubectl-edit, ignored", sameService}},
		{"a field that the box does not set", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			set(t, deployment, editor, `{"f:spec":{"f:revisionHistoryLimit":{}}}`, int64(5), "spec", "revisionHistoryLimit")
			return both(deployment, service)
		}, []string{sameDeployment, sameService}},
		{"a label that a user has removed", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			unstructured.RemoveNestedField(service.Object, "metadata", "labels", "app.kubernetes.io/instance")
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Update", `  metadata.labels.app.kubernetes.io/instance:  -> "web" by `}},
		{"another image, and a variable less", newBoxWithService(), newBoxWithService(func(box *modelv1.ModelBox) { box.Spec.Image, box.Spec.Envs = "nginx:1.9.1", nil }), both,
			[]string{"apps/v1 Deployment web Update",
				`  spec.template.spec.containers[name="web"].env[name="MODE"].name: "MODE" ->  by modelbox-apiserver`,
				`  spec.template.spec.containers[name="web"].env[name="MODE"].value: "debug" ->  by modelbox-apiserver`,
				`  spec.template.spec.containers[name="web"].image: "nginx:1.7.9" -> "nginx:1.9.1" by modelbox-apiserver`,
				sameService}},
		{"what the box ignores and changes itself", newBoxWithService(ignoring),
			newBoxWithService(ignoring, func(box *modelv1.ModelBox) { box.Spec.MinReadySeconds = ptr.To[int32](0) }), both,
			[]string{"apps/v1 Deployment web Update", "  spec.minReadySeconds: 3 -> 0 by modelbox-apiserver", sameService}},
		{"a Service that becomes headless", newBoxWithService(), newBoxWithService(func(box *modelv1.ModelBox) { box.Spec.ServiceType = modelv1.ServiceTypeHeadless }),
			func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
				if err := unstructured.SetNestedField(service.Object, "10.0.0.7", "spec", "clusterIP"); err != nil {
					t.Fatal(err)
				}
				return both(deployment, service)
			},
			[]string{sameDeployment, "v1 Service web Replace it has a cluster IP and cannot become headless",
				`  spec.clusterIP: "10.0.0.7" -> "None" by `}},
		{"a Service that the box has no more", newBoxWithService(), newBoxWithService(func(box *modelv1.ModelBox) { box.Spec.Ports = nil }), both,
			[]string{"apps/v1 Deployment web Update", "v1 Service web Delete"}},
		{"a Service of another controller", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			isController := true
			service.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "u2", Controller: &isController}})
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Refuse it is controlled by StatefulSet db"}},
		{"children of a box that was deleted", newBoxWithService(deletedBox), newBoxWithService(), both, []string{
			"apps/v1 Deployment web Replace it belonged to a box of this name that has been deleted",
			"v1 Service web Replace it belonged to a box of this name that has been deleted"}},
		{"a Service whose owner reference a user has changed", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			owners := service.GetOwnerReferences()
			owners[0].UID = "u0"
			service.SetOwnerReferences(owners)
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Update",
			`  metadata.ownerReferences[uid="u0"]: {"apiVersion":"model.github.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"ModelBox","name":"web","uid":"u0"} ->  by `,
			owner("u1")}},
		{"a Service without a controller", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			service.SetOwnerReferences(nil)
			service.SetManagedFields(nil)
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Refuse it has no controller: delete it, give the box another name, or annotate the box with model.github.com/adopt=true to take it over"}},
		{"a Service without a controller that is adopted", newBoxWithService(adopting), newBoxWithService(adopting), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			service.SetOwnerReferences(nil)
			service.SetManagedFields(nil)
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Update it has no controller, and it is taken over: fields of its spec that the box does not set are removed",
			`  metadata.ownerReferences[uid="u1"]:  -> {"apiVersion":"model.github.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"ModelBox","name":"web","uid":"u1"} by `}},
		{"a headless Service without a controller that cannot be adopted", newBoxWithService(adopting), newBoxWithService(adopting), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			service.SetOwnerReferences(nil)
			service.SetManagedFields(nil)
			set(t, service, editor, `{"f:spec":{"f:clusterIP":{}}}`, "None", "spec", "clusterIP")
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Refuse it has no controller: it cannot be adopted, for it is headless and cannot get a cluster IP; delete it or give the box another name"}},
		{"a Service whose owner reference a user has removed", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			service.SetOwnerReferences(nil)
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Update",
			`  metadata.ownerReferences[uid="u1"]:  -> {"apiVersion":"model.github.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"ModelBox","name":"web","uid":"u1"} by `}},
		{"children that were restored from a backup", newBoxWithService(), newBoxWithService(restoredBox), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			return both(restored(deployment), restored(service))
		}, []string{"apps/v1 Deployment web Update " + takenBack, owner("u9"), "v1 Service web Update " + takenBack, owner("u9")}},
		{"children that were restored from a backup of what the box was before", newBoxWithService(), newBoxWithService(restoredBox, func(box *modelv1.ModelBox) {
			box.Spec.Image, box.Spec.Ports[0].Port = "nginx:1.9.1", 81
		}), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			return both(restored(deployment), restored(service))
		}, []string{"apps/v1 Deployment web Refuse " + refused, "v1 Service web Refuse " + refused}},
		{"children that are left of a box that was deleted, and no copies", newBoxWithService(), newBoxWithService(restoredBox), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			for _, child := range both(restored(deployment), restored(service)) {
				child.SetCreationTimestamp(*child.GetManagedFields()[0].Time)
			}
			return both(deployment, service)
		}, []string{"apps/v1 Deployment web Refuse " + refused, "v1 Service web Refuse " + refused}},
		{"a Service that is being deleted", newBoxWithService(), newBoxWithService(), func(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
			now := metav1.Now()
			service.SetDeletionTimestamp(&now)
			return both(deployment, service)
		}, []string{sameDeployment, "v1 Service web Replace it is being deleted"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := rendered(t, row.before)
			client := newClient(row.live(applied(t, before[0]), applied(t, before[1]))...)
			diffs, err := NewDiffer(client).Diff(t.Context(), row.box, rendered(t, row.box), mayGetAllKinds)
			if err != nil {
				t.Fatal(err)
			}
			got := linesOf(diffs)
			if len(row.box.Spec.Ports) == 0 { // probes and the grace period go with the ports
				got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "  ") })
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, action := range client.Actions() {
				if verb := action.GetVerb(); verb != "get" && verb != "list" {
					t.Errorf("it has sent %s %s", verb, action.GetResource().Resource)
				}
			}
		})
	}
}

// restored makes a child one that was created from a backup: without an owner, and with the managed fields of the original.
func restored(child *unstructured.Unstructured) *unstructured.Unstructured {
	applied := metav1.NewTime(time.Unix(1_700_000_000, 0))
	child.SetOwnerReferences(nil)
	child.SetCreationTimestamp(metav1.NewTime(applied.Add(time.Hour)))
	entries := child.GetManagedFields()
	for i := range entries {
		entries[i].Time = &applied
	}
	child.SetManagedFields(entries)
	return child
}

func both(deployment, service *unstructured.Unstructured) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{deployment, service}
}

func TestDiffReadsNothingThatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	children := rendered(t, newBoxWithService())
	client := newClient(applied(t, children[0]), applied(t, children[1]))
	diffs, err := NewDiffer(client).Diff(t.Context(), newBoxWithService(), children, func(resource schema.GroupVersionResource) bool { return resource.Group == "" })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apps/v1 Deployment web Unknown not shown: you may not get deployments.apps", sameService}, linesOf(diffs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, action := range client.Actions() {
		if action.GetResource().Group != "" {
			t.Errorf("it has sent %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}

func TestDiffSaysWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{
		"get":  "reading Deployment web: it is unavailable",
		"list": "listing the deployments: it is unavailable",
	} {
		client := newClient()
		client.PrependReactor(verb, "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("it is unavailable")
		})
		_, err := NewDiffer(client).Diff(t.Context(), newBoxWithService(), rendered(t, newBoxWithService()), mayGetAllKinds)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLongValuesAreCut(t *testing.T) {
	t.Parallel()
	children := rendered(t, newBoxWithService())
	live := applied(t, children[1])
	set(t, live, "kubectl-edit", `{"f:spec":{"f:selector":{}}}`, map[string]any{"modelbox": strings.Repeat("ü", 1000)}, "spec", "selector")
	diffs, err := NewDiffer(newClient(applied(t, children[0]), live)).Diff(t.Context(), newBoxWithService(), children, mayGetAllKinds)
	if err != nil {
		t.Fatal(err)
	}
	value := diffs[1].Fields[0].Live
	if !strings.HasSuffix(value, "ü…") || len(value) > 256+len("…") {
		t.Errorf("the value is %s", value)
	}
}
