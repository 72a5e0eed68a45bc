// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/boxchildren"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// childrenInCluster returns the objects in the namespace of the box, as the cluster has them, by their kinds and names.
func (f *testController) childrenInCluster(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	objects := map[string]*unstructured.Unstructured{}
	for _, kind := range childkinds.All() {
		tracker := f.cluster.Tracker()
		if kind.Group == gatewayv1.GroupName {
			tracker = f.gateway.Tracker()
		}
		list, err := tracker.List(kind.GroupVersionResource(), kind.GroupVersionKind, fixture.WebKey.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(object runtime.Object) error {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				return err
			}
			child := &unstructured.Unstructured{Object: content}
			child.SetGroupVersionKind(kind.GroupVersionKind)
			objects[kind.Kind+" "+child.GetName()] = child
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}

// diffOf returns what the subresource diff of the box says.
func (f *testController) diffOf(t *testing.T, box *modelv1.ModelBox) []modelv1.ModelBoxChildDiff {
	t.Helper()
	lists := map[schema.GroupVersionResource]string{}
	for _, kind := range childkinds.All() {
		lists[kind.GroupVersionResource()] = kind.Kind + "List"
	}
	var objects []runtime.Object
	for _, object := range f.childrenInCluster(t) {
		objects = append(objects, object)
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)
	live, err := boxchildren.NewReader(f.cluster, nil).Live(t.Context(), box, func(schema.GroupVersionResource, string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := modelboxrender.RenderForLive(box, live)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := boxchildren.NewDiffer(client).Diff(t.Context(), box, rendered, func(schema.GroupVersionResource) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()
	return diffs
}

// visible returns an object without the fields that mean nothing to users, nil for none.
func visible(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	object = object.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	for _, annotation := range []string{modelv1.RecordAnnotation, modelv1.RenderHashAnnotation, modelv1.StableRecordAnnotation, modelv1.RolledBackAnnotation} {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", annotation)
	}
	if len(object.GetAnnotations()) == 0 {
		object.SetAnnotations(nil)
	}
	unstructured.RemoveNestedField(object.Object, "status")
	return object.Object
}

// expectDiffAsReconciled requires that the next reconcile of a server that has just started does what the diff says.
func (f *testController) expectDiffAsReconciled(t *testing.T) {
	t.Helper()
	f.restart()
	f.catchUp(t)
	box := f.boxInServer(t)
	diffs, before := f.diffOf(t, box), f.childrenInCluster(t)
	result, err := f.children.Reconcile(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	after := f.childrenInCluster(t)
	for i := range diffs {
		diff := &diffs[i]
		name := diff.Kind + " " + diff.Name
		change := cmp.Diff(visible(before[name]), visible(after[name]))
		failure := result.Failure(diff.Kind, diff.Name)
		isAgreed := false
		switch diff.Action {
		case modelv1.DiffActionNone:
			isAgreed = change == "" && failure == nil
		case modelv1.DiffActionRefuse:
			isAgreed = change == "" && failure != nil
		case modelv1.DiffActionCreate:
			isAgreed = before[name] == nil && after[name] != nil
		case modelv1.DiffActionUpdate:
			isAgreed = before[name] != nil && after[name] != nil && change != "" && failure == nil || change == "" && awaitsClaim(diff.Kind, result)
		case modelv1.DiffActionReplace:
			isAgreed = before[name] != nil && (change != "" || failure != nil)
		case modelv1.DiffActionDelete:
			isAgreed = after[name] == nil || diff.Kind == "ConfigMap" || diff.Kind == "PersistentVolumeClaim" // which may be in use
		}
		if !isAgreed {
			t.Errorf("the diff of %s is %s %q: %v; the failure is %v, and the reconcile changed\n%s", name, diff.Action, diff.Message, diff.Fields, failure, change)
		}
		if diff.Action == modelv1.DiffActionUpdate && change != "" {
			expectFieldsAsWanted(t, diff, after[name])
		}
		delete(before, name)
		delete(after, name)
	}
	for name, object := range after {
		if change := cmp.Diff(visible(before[name]), visible(object)); change != "" {
			t.Errorf("%s is not in the diff, and the reconcile changed\n%s", name, change)
		}
	}

	// What the diff shows is what the reconcile changed: nothing is left to show but what is ignored.
	ignored := map[string]string{}
	for i := range diffs {
		for _, field := range diffs[i].Fields {
			if field.Ignored {
				ignored[diffs[i].Kind+" "+field.Path] = field.Live
			}
		}
	}
	left := map[string]string{}
	for _, diff := range f.diffOf(t, box) {
		if !slices.Contains([]modelv1.ModelBoxDiffAction{modelv1.DiffActionNone, modelv1.DiffActionRefuse, modelv1.DiffActionDelete}, diff.Action) {
			if diff.Action == modelv1.DiffActionUpdate && awaitsClaim(diff.Kind, result) {
				continue
			}
			t.Errorf("after the reconcile, the diff of %s %s is %s: %v", diff.Kind, diff.Name, diff.Action, diff.Fields)
		}
		for _, field := range diff.Fields {
			if field.Ignored {
				left[diff.Kind+" "+field.Path] = field.Live
			}
		}
	}
	if change := cmp.Diff(ignored, left); change != "" {
		t.Errorf("the diff said that fields are ignored, -before +after the reconcile:\n%s", change)
	}
}

// awaitsClaim returns whether children of the kind wait for a claim that is not as rendered.
func awaitsClaim(kind string, result *children.Result) bool {
	return kind == "Deployment" && result.Failure("PersistentVolumeClaim", "web-data") != nil
}

// expectFieldsAsWanted requires that the fields of the diff are as it wants them, of those in structs.
func expectFieldsAsWanted(t *testing.T, diff *modelv1.ModelBoxChildDiff, child *unstructured.Unstructured) {
	t.Helper()
	for _, field := range diff.Fields {
		if field.Ignored || strings.ContainsAny(field.Path, "[/") {
			continue
		}
		value, isThere, err := unstructured.NestedFieldNoCopy(child.Object, strings.Split(field.Path, ".")...)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if field.Wanted == "" && isThere || field.Wanted != "" && field.Wanted != string(encoded) {
			t.Errorf("%s of %s was to become %q and is %s", field.Path, diff.Kind, field.Wanted, encoded)
		}
	}
}

// changeService lets a manager change the Service by an update.
func (f *testController) changeService(t *testing.T, manager string, change func(*corev1.Service)) {
	t.Helper()
	services := f.cluster.CoreV1().Services(fixture.WebKey.Namespace)
	service, err := services.Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(service)
	if _, err := services.Update(t.Context(), service, metav1.UpdateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}

func TestDiffSaysWhatReconcileDoes(t *testing.T) {
	box := func(change func(*modelv1.ModelBox)) func(*testing.T, *testController) {
		return func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) {
				change(box)
				modelv1.SetObjectDefaults_ModelBox(box)
				box.Generation++
			})
		}
	}
	deployment := func(change func(*appsv1.Deployment)) func(*testing.T, *testController) {
		return func(t *testing.T, f *testController) { f.changeDeployment(t, "kubectl-edit", change) }
	}
	service := func(change func(*corev1.Service)) func(*testing.T, *testController) {
		return func(t *testing.T, f *testController) { f.changeService(t, "kubectl-edit", change) }
	}
	create := func(claim *corev1.PersistentVolumeClaim) func(*testing.T, *testController) {
		return func(t *testing.T, f *testController) {
			claims := f.cluster.CoreV1().PersistentVolumeClaims(claim.Namespace)
			if _, err := claims.Create(t.Context(), claim, metav1.CreateOptions{FieldManager: "kubectl-create"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	drift := deployment(withCPU("3"))
	labelled := box(func(box *modelv1.ModelBox) { metav1.SetMetaDataLabel(&box.ObjectMeta, "team", "shop") })
	adopting := box(func(box *modelv1.ModelBox) {
		metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.AdoptAnnotation, "true")
	})
	disowned := service(func(s *corev1.Service) { s.OwnerReferences, s.ManagedFields = nil, nil })
	withoutOwner := service(func(s *corev1.Service) { s.OwnerReferences = nil })
	autoscaled := box(func(box *modelv1.ModelBox) {
		box.Spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 9, CPU: ptr.To[int32](80)}
	})
	for _, row := range []struct {
		name    string
		box     *modelv1.ModelBox
		changes []func(*testing.T, *testController)
	}{
		{"nothing has changed", fixture.WebBox(t), nil},
		{"drift", fixture.WebBox(t), []func(*testing.T, *testController){drift}},
		{"drift beside a change of the box", fixture.WebBox(t), []func(*testing.T, *testController){drift, box(func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" })}},
		{"ignored drift", newIgnoringBox(t), []func(*testing.T, *testController){drift}},
		{"ignored drift beside a change of the box", newIgnoringBox(t), []func(*testing.T, *testController){drift, box(func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" })}},
		{"ignored drift beside a change of what is ignored", newIgnoringBox(t),
			[]func(*testing.T, *testController){drift, box(func(box *modelv1.ModelBox) {
				box.Spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
			})}},
		{"ignored drift beside a change of the labels of the box", newIgnoringBox(t), []func(*testing.T, *testController){drift, labelled}},
		{"ignored drift beside other drift", newIgnoringBox(t),
			[]func(*testing.T, *testController){drift, deployment(func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 77 })}},
		{"a change of the labels of the box", fixture.WebBox(t), []func(*testing.T, *testController){labelled}},
		{"a removed environment", fixture.WebBox(t), []func(*testing.T, *testController){box(func(box *modelv1.ModelBox) { box.Spec.Envs = nil })}},
		{"a removed port", fixture.WebBox(t), []func(*testing.T, *testController){box(func(box *modelv1.ModelBox) { box.Spec.Ports = box.Spec.Ports[:1] })}},
		{"ports are removed", fixture.WebBox(t), []func(*testing.T, *testController){box(func(box *modelv1.ModelBox) { box.Spec.Ports = nil })}},
		{"an autoscaler in place of the replicas", fixture.WebBox(t), []func(*testing.T, *testController){autoscaled}},
		{"replicas that were autoscaled", fixture.WebBox(t, func(box *modelv1.ModelBox) {
			box.Spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 9, CPU: ptr.To[int32](80)}
		}), []func(*testing.T, *testController){box(func(box *modelv1.ModelBox) { box.Spec.Autoscaling = nil })}},
		{"another handler of a probe", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) {
			probe := fixture.MainContainer(d).LivenessProbe
			probe.TCPSocket, probe.Exec = nil, &corev1.ExecAction{Command: []string{"true"}}
		})}},
		{"another name of the container", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) { fixture.MainContainer(d).Name = "other" })}},
		{"another selector", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) { d.Spec.Selector.MatchLabels["team"] = "shop" })}},
		{"a field that the box does not set", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = ptr.To[int32](5) })}},
		{"a field in the name of the server that the box does not set", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) {
			d.Spec.RevisionHistoryLimit = ptr.To[int32](5)
			for i := range d.ManagedFields {
				if entry := &d.ManagedFields[i]; fields.IsOurs(entry) {
					owned, err := fields.Decode(entry)
					if err != nil {
						t.Fatal(err)
					}
					owned.Insert(fieldpath.MakePathOrDie("spec", "revisionHistoryLimit"))
					if entry.FieldsV1, err = fields.Encode(owned); err != nil {
						t.Fatal(err)
					}
				}
			}
		})}},
		{"no managed fields", fixture.WebBox(t), []func(*testing.T, *testController){deployment(func(d *appsv1.Deployment) { d.ManagedFields = nil })}},
		{"a Service without its owner reference", fixture.WebBox(t), []func(*testing.T, *testController){withoutOwner}},
		{"a Service without its owner reference beside a change of the box", fixture.WebBox(t),
			[]func(*testing.T, *testController){withoutOwner, box(func(box *modelv1.ModelBox) { box.Spec.Ports[0].Port = 81 })}},
		{"a Service without its owner reference and its labels", fixture.WebBox(t),
			[]func(*testing.T, *testController){withoutOwner, service(func(s *corev1.Service) { s.Labels = nil })}},
		{"a Service that names another controller", fixture.WebBox(t), []func(*testing.T, *testController){service(func(s *corev1.Service) {
			s.OwnerReferences[0].Kind = "Other"
		})}},
		{"a Service of a box that was deleted", fixture.WebBox(t), []func(*testing.T, *testController){service(func(s *corev1.Service) { s.OwnerReferences[0].UID = "old" })}},
		{"a Service without its owner reference that names it no controller", fixture.WebBox(t), []func(*testing.T, *testController){service(func(s *corev1.Service) {
			s.OwnerReferences[0].Controller = nil
		})}},
		{"a foreign Service", fixture.WebBox(t), []func(*testing.T, *testController){disowned}},
		{"a foreign Service that is adopted", fixture.WebBox(t), []func(*testing.T, *testController){adopting, disowned, service(func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP })}},
		{"a foreign Service that cannot be adopted", fixture.WebBox(t), []func(*testing.T, *testController){adopting, disowned, service(func(s *corev1.Service) { s.Spec.ClusterIP = "None" })}},
		{"a claim of the box", fixture.WebBox(t, withStorage()), nil},
		{"a claim that is to grow", fixture.WebBox(t, withStorage()), []func(*testing.T, *testController){box(withStorage(sized("2Gi")))}},
		{"a claim that is to shrink", fixture.WebBox(t, withStorage(sized("2Gi"))), []func(*testing.T, *testController){box(withStorage())}},
		{"a claim that is to get another storage class", fixture.WebBox(t, withStorage()), []func(*testing.T, *testController){box(withStorage(func(storage *modelv1.ModelBoxStorage) { storage.StorageClassName = ptr.To("fast") }))}},
		{"a foreign claim", fixture.WebBox(t), []func(*testing.T, *testController){create(newClaim("web-data")), box(withStorage())}},
		{"a foreign claim that is too small", fixture.WebBox(t), []func(*testing.T, *testController){create(newClaim("web-data")), box(withStorage(sized("2Gi")))}},
		{"a claim of another box", fixture.WebBox(t), []func(*testing.T, *testController){create(newClaim("web-data", ofBox("other"))), box(withStorage())}},
		{"a foreign claim of a controller", fixture.WebBox(t), []func(*testing.T, *testController){create(newClaim("web-data", controlledBy("v1", "Other", "web"))), box(withStorage())}},
		{"a claim that the server has not written", fixture.WebBox(t), []func(*testing.T, *testController){create(newClaim("web-data", ofBox("web"))), box(withStorage())}},
		{"a foreign claim that is adopted", fixture.WebBox(t), []func(*testing.T, *testController){adopting, create(newClaim("web-data")), box(withStorage())}},
		{"a claim of a box of the name that was deleted", fixture.WebBox(t, withStorage()), []func(*testing.T, *testController){func(t *testing.T, f *testController) {
			f.next(t, withStorage(sized("2Gi")))
		}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, row.box)
			f.converge(t)
			f.settle(t)
			for _, change := range row.changes {
				change(t, f)
			}
			f.expectDiffAsReconciled(t)
		})
	}
}

// FuzzDiff changes the live children of a box by any merge patch, and the box in some ways. The reconcile that follows has to do
// what the diff says.
func FuzzDiff(f *testing.F) {
	for _, patches := range [][2]string{
		{`{}`, `{}`},
		{`{"metadata": {"labels": {"modelbox": "x"}}, "spec": {"replicas": 2, "minReadySeconds": 7}}`, `{"spec": {"ports": [{"port": 8080}]}}`},
		{`{"metadata": {"ownerReferences": null}}`, `{"metadata": {"ownerReferences": null, "labels": null}}`},
		{`{"spec": {"template": {"spec": {"containers": [{"name": "other", "image": "x"}]}}}}`, `{"spec": {"clusterIP": "None"}}`},
		{`{"spec": {"template": {"spec": {"containers": null, "volumes": [{"name": "cache", "emptyDir": {}}]}}}}`, `{"metadata": {"managedFields": null}}`},
		{`{"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}`, `{"metadata": {"annotations": null}}`},
	} {
		for _, choice := range []byte{0, 1, 2, 4, 8, 16, 32, 64, 128, 255} {
			f.Add([]byte(patches[0]), []byte(patches[1]), choice)
		}
	}
	f.Fuzz(func(t *testing.T, deploymentPatch, servicePatch []byte, choice byte) {
		c := newTestController(t, newIgnoringBox(t))
		c.converge(t)
		c.settle(t)
		deployment := c.deployment(t)
		deployment.SetGroupVersionKind(childkinds.Deployment.GroupVersionKind)
		service := c.service(t)
		service.SetGroupVersionKind(childkinds.Service.GroupVersionKind)
		if !patched(deployment, deploymentPatch) || !patched(service, servicePatch) {
			return
		}
		c.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { *d = *deployment })
		c.changeService(t, "kubectl-edit", func(s *corev1.Service) { *s = *service })
		c.update(t, func(box *modelv1.ModelBox) {
			for i, change := range []func(){
				func() { box.Spec.Image = "nginx:2" },
				func() { metav1.SetMetaDataLabel(&box.ObjectMeta, "team", "shop") },
				func() { metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.AdoptAnnotation, "true") },
				func() { box.Spec.Envs, box.Spec.Ports = nil, box.Spec.Ports[:1] },
				func() { box.Spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2") },
				func() { box.Spec.IgnoreDrift = nil },
				func() {
					box.Spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 9, CPU: ptr.To[int32](80)}
				},
				func() { box.Spec.ServiceType = modelv1.ServiceTypeHeadless },
			} {
				if choice&(1<<i) != 0 {
					change()
				}
			}
			modelv1.SetObjectDefaults_ModelBox(box)
			box.Generation++
		})
		c.expectDiffAsReconciled(t)
	})
}
