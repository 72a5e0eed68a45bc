// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// mustReconcile reconciles webBox.
func (f *testController) mustReconcile(t *testing.T) time.Duration {
	t.Helper()
	again, err := f.ReconcileKey(t.Context(), fixture.WebKey)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// catchUp lets the caches see what the servers have, as the informers would show it.
func (f *testController) catchUp(t *testing.T) {
	t.Helper()
	box, err := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.boxCache.Replace([]any{box}, "")
	for _, kind := range f.kinds {
		tracker := f.cluster.Tracker()
		if kind.GroupVersionKind.Group == gatewayv1.GroupName {
			tracker = f.gateway.Tracker()
		}
		list, err := tracker.List(schema.GroupVersionResource{Group: kind.GroupVersionKind.Group, Version: kind.GroupVersionKind.Version, Resource: kind.Resource.Resource},
			kind.GroupVersionKind, fixture.WebKey.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		var trimmed []any
		if err := meta.EachListItem(list, func(object runtime.Object) error {
			child, err := kinds.TrimChild(object.DeepCopyObject())
			trimmed = append(trimmed, child)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		kind.Informer.GetIndexer().Replace(trimmed, "")
	}
	f.boxes.ClearActions()
	f.cluster.ClearActions()
}

// converge reconciles until the caches show a box with its children as it says.
func (f *testController) converge(t *testing.T) {
	t.Helper()
	f.mustReconcile(t)
	f.catchUp(t)
	f.told()
}

// requests returns what was sent to the servers, as "patch deployments web".
func (f *testController) requests() []string {
	var requests []string
	for _, action := range append(f.cluster.Actions(), f.boxes.Actions()...) {
		if action.GetVerb() == "watch" {
			continue // See newTestController.
		}
		words := []string{action.GetVerb(), action.GetResource().Resource}
		if action.GetSubresource() != "" {
			words[1] += "/" + action.GetSubresource()
		}
		switch action := action.(type) {
		case interface{ GetName() string }:
			words = append(words, action.GetName())
		case clienttesting.UpdateAction:
			words = append(words, action.GetObject().(metav1.Object).GetName())
		}
		requests = append(requests, strings.Join(words, " "))
	}
	return requests
}

func (f *testController) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return deployment
}

func (f *testController) service(t *testing.T) *corev1.Service {
	t.Helper()
	service, err := f.cluster.CoreV1().Services(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// completeRollout sets the status of the Deployment to a complete rollout of its spec.
func (f *testController) completeRollout(t *testing.T) {
	t.Helper()
	deployment := f.deployment(t)
	deployment.Status = completeDeployment().Status
	deployment.Status.ObservedGeneration = deployment.Generation
	if _, err := f.cluster.AppsV1().Deployments(deployment.Namespace).UpdateStatus(t.Context(), deployment, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (f *testController) status(t *testing.T) conditions {
	t.Helper()
	box, err := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return summarize(box.Status.Conditions)
}

// update changes the box in its server.
func (f *testController) update(t *testing.T, change func(*modelv1.ModelBox)) {
	t.Helper()
	boxes := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace)
	box, err := boxes.Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(box)
	if _, err := boxes.Update(t.Context(), box, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	fixture.Check(t, what, want, got, cmp.AllowUnexported(conditions{}))
}

func TestReconcileCreatesTheChildren(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	check(t, "requeue after", time.Duration(0), f.mustReconcile(t))

	check(t, "requests", []string{
		"get deployments web", "patch deployments web", "get services web", "patch services web",
		"update modelboxes/status web",
	}, f.requests())
	check(t, "events", []string{"Normal CreatedDeployment Created Deployment web", "Normal CreatedService Created Service web"}, f.told())

	deployment := f.deployment(t)
	check(t, "image", "nginx:1.7.9", deployment.Spec.Template.Spec.Containers[0].Image)
	check(t, "controller", types.UID(fixture.WebUID), metav1.GetControllerOf(deployment).UID)
	check(t, "managers", []string{"modelbox-apiserver Apply"}, managers(deployment))
	check(t, "conditions", conditions{"False Progressing", "False Progressing", "True Progressing", "True Applied", "none"}, f.status(t))
}

func managers(object metav1.Object) []string {
	var managers []string
	for _, entry := range object.GetManagedFields() {
		managers = append(managers, fmt.Sprintf("%s %s", entry.Manager, entry.Operation))
	}
	return managers
}

func TestReconcileSendsNothingWhenConverged(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)

	check(t, "requeue after", time.Duration(0), f.mustReconcile(t))
	check(t, "requests", []string(nil), f.requests())
	check(t, "events", []string(nil), f.told())
}

func TestReconcileUpdatesTheChildrenOfAChangedBox(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Image = "nginx:2"
		box.Spec.Envs = box.Spec.Envs[:1]
		box.Generation++
	})
	f.catchUp(t)

	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "events", []string{"Normal UpdatedDeployment Updated Deployment web"}, f.told())
	main := f.deployment(t).Spec.Template.Spec.Containers[0]
	check(t, "image", "nginx:2", main.Image)
	check(t, "variables", []corev1.EnvVar{{Name: "FIRST", Value: "1"}}, main.Env)
}

func TestReconcileRestoresDrift(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.scaleByAnotherClient(t)

	f.mustReconcile(t)
	check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events", []string{"Warning RestoredDeployment Restored Deployment web: another-client had changed spec.replicas"}, f.told())
	check(t, "replicas", ptr.To[int32](2), f.deployment(t).Spec.Replicas)
	check(t, "label of another manager", "shop", f.deployment(t).Labels["team"])
}

func TestRestoreStopsWhenTheChildHasAnotherOwner(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.scaleByAnotherClient(t)
	// The cache does not show yet that another owner has taken the Deployment.
	taken := f.deployment(t)
	taken.OwnerReferences[0].Name, taken.OwnerReferences[0].UID = "other", "of-the-other"
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Update(t.Context(), taken, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()

	f.mustReconcile(t)
	check(t, "requests", []string{"get deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "False NotOwned", f.status(t).applied)
	check(t, "replicas", ptr.To[int32](7), f.deployment(t).Spec.Replicas)
}

func TestRestoreStopsWhenTheChildIsGone(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.scaleByAnotherClient(t)
	// The cache does not show yet that a user has deleted the Deployment.
	if err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Delete(t.Context(), fixture.WebKey.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()

	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrChildGone) {
		t.Errorf("got error %v, want %v: the box has to be tried again", err, children.ErrChildGone)
	}
	check(t, "requests", []string{"get deployments web"}, f.requests())
}

// scaleByAnotherClient applies another number of replicas to the Deployment as another field manager, and lets the caches catch up.
func (f *testController) scaleByAnotherClient(t *testing.T) {
	t.Helper()
	scaled := applyappsv1.Deployment("web", fixture.WebKey.Namespace).
		WithLabels(map[string]string{"team": "shop"}).
		WithSpec(applyappsv1.DeploymentSpec().WithReplicas(7))
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Apply(t.Context(), scaled,
		metav1.ApplyOptions{FieldManager: "another-client", Force: true}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
}

func TestReconcilePrunesAServiceWithoutPorts(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
	f.catchUp(t)

	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "delete services web", "update modelboxes/status web"}, f.requests())
	check(t, "address", "", f.boxInServer(t).Status.Address)
	check(t, "events", []string{
		"Normal UpdatedDeployment Updated Deployment web",
		"Normal PrunedService Deleted Service web, which the box no longer specifies",
	}, f.told())
}

func TestReconcileReplacesAServiceThatBecomesHeadless(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.ServiceType, box.Spec.Ports[1].NodePort = modelv1.ServiceTypeHeadless, 0
	})
	f.catchUp(t)

	f.mustReconcile(t)
	check(t, "requests", []string{
		"patch deployments web", "get services web", "create services web", "delete services web", "get services web", "patch services web", "update modelboxes/status web",
	}, f.requests())
	check(t, "events", []string{
		"Normal ReplacedService Deleted Service web to recreate it: it has a cluster IP and cannot become headless",
		"Normal CreatedService Created Service web",
	}, f.told())
	service := f.service(t)
	check(t, "clusterIP", corev1.ClusterIPNone, service.Spec.ClusterIP)
}

func TestPruneHasAPreconditionOnTheUID(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
	f := newTestController(t, box)
	f.cache(t, fixture.LiveService(t))
	f.mustReconcile(t)

	for _, action := range f.cluster.Actions() {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok {
			check(t, "uid", ptr.To(fixture.LiveService(t).UID), deletion.DeleteOptions.Preconditions.UID)
			check(t, "propagation", ptr.To(metav1.DeletePropagationBackground), deletion.DeleteOptions.PropagationPolicy)
			return
		}
	}
	t.Errorf("nothing was deleted: %v", f.requests())
}

func TestReconcileRefusesAForeignObject(t *testing.T) {
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: fixture.WebKey.Namespace}}
	labelled := foreign.DeepCopy()
	labelled.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	labelled.Labels = map[string]string{render.ManagedByLabel: render.ManagedBy}

	for _, row := range []struct {
		name    string
		service *corev1.Service
		cached  bool
		want    []string
	}{
		{"one that the cache does not show, for it has no label of ours", foreign, false, []string{"get deployments web", "patch deployments web", "get services web"}},
		{"one that the cache shows", labelled, true, []string{"get deployments web", "patch deployments web"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t), row.service)
			if row.cached {
				f.cache(t, row.service)
			}
			check(t, "requeue after", children.RecheckPeriod, f.mustReconcile(t))
			check(t, "requests", append(row.want, "update modelboxes/status web"), f.requests())
			check(t, "applied", "False NotOwned", f.status(t).applied)
			check(t, "ready", "False NotApplied", f.status(t).ready)

			service := f.service(t)
			check(t, "the object", row.service.ObjectMeta, service.ObjectMeta)
			if events := f.told(); !slices.ContainsFunc(events, func(event string) bool { return strings.HasPrefix(event, "Warning NotOwned ") }) {
				t.Errorf("no event reports it: %v", events)
			}

			f.boxCache.Update(f.boxInServer(t))
			f.mustReconcile(t)
			check(t, "events of the second time", 0, len(slices.DeleteFunc(f.told(), func(event string) bool { return !strings.Contains(event, "NotOwned") })))
		})
	}
}

func (f *testController) boxInServer(t *testing.T) *modelv1.ModelBox {
	t.Helper()
	box, err := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// A child whose label a user has removed drops out of the cache. The controller finds it all the same.
func TestReconcileRestoresARemovedLabel(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	deployment := f.deployment(t)
	delete(deployment.Labels, render.ManagedByLabel)
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Update(t.Context(), deployment, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	if err := f.kind("Deployment").Informer.GetIndexer().Delete(deployment); err != nil {
		t.Fatal(err)
	}

	f.mustReconcile(t)
	check(t, "label", render.ManagedBy, f.deployment(t).Labels[render.ManagedByLabel])
	check(t, "events", []string{"Warning RestoredDeployment Restored Deployment web: another client had changed metadata.labels.app.kubernetes.io/managed-by"}, f.told())
}

func TestReconcileOfAPausedBoxKeepsTheChildren(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Paused = true
		box.Generation++
	})
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "applied without a change", "True Applied", f.status(t).applied)

	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Image, box.Spec.Ports = "nginx:2", nil
		box.Generation++
	})
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "recorded image", "nginx:2", f.recorded(t).Spec.Image)
	check(t, "image", "nginx:1.7.9", f.deployment(t).Spec.Template.Spec.Containers[0].Image)
	check(t, "ready with a change", "False Paused", f.status(t).ready)

	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Paused = false
		box.Generation++
	})
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "delete services web", "update modelboxes/status web"}, f.requests())
}

func TestReconcileOfADeletedBoxSendsNothing(t *testing.T) {
	going := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.DeletionTimestamp = ptr.To(metav1.Now()) })
	for _, row := range []struct {
		name string
		box  *modelv1.ModelBox
	}{
		{"gone", nil},
		{"going", going},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, row.box)
			f.cache(t, fixture.LiveDeployment(t), fixture.LiveService(t))
			f.Consistency.WroteAt(fixture.WebKey, fixture.WebUID, f.kind("Deployment").Resource, "1")
			check(t, "requeue after", time.Duration(0), f.mustReconcile(t))
			check(t, "requests", []string(nil), f.requests())
		})
	}
}

func TestStatusOfADeletedBoxIsStale(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	// The cache does not show yet that the box is gone.
	if err := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace).Delete(t.Context(), fixture.WebKey.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrOwnerChanged) {
		t.Errorf("got error %v, want %v", err, children.ErrOwnerChanged)
	}
}

// storeAt is a cache that has seen everything up to a version.
type storeAt struct{ version string }

func (s *storeAt) LastStoreSyncResourceVersion() string { return s.version }

func TestReconcileForgetsTheWritesOfADeletedBox(t *testing.T) {
	f := newTestController(t, nil)
	deployments := f.kind("Deployment").Resource
	f.Consistency = consistency.NewStore(f.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{deployments: &storeAt{"10"}})
	f.Consistency.WroteAt(fixture.WebKey, fixture.WebUID, deployments, "11")
	f.mustReconcile(t)
	check(t, "writes that are waited for", error(nil), f.Consistency.EnsureReady(fixture.WebKey))
}

func TestReconcileWaitsForItsOwnWrites(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	store, deployments := &storeAt{"10"}, f.kind("Deployment").Resource
	f.Consistency = consistency.NewStore(f.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{deployments: store})
	f.Consistency.WroteAt(fixture.WebKey, fixture.WebUID, deployments, "11")

	check(t, "requeue after", reconciler.StaleCacheRetry, f.mustReconcile(t))
	check(t, "requests", []string(nil), f.requests())

	store.version = "11"
	check(t, "requeue after", time.Duration(0), f.mustReconcile(t))
	if len(f.requests()) == 0 {
		t.Error("the box still waits")
	}
}

func TestReconcileGoesOnAfterAChildThatFails(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	refusal := apierrors.NewForbidden(f.kind("Deployment").Resource, "web", errors.New("exceeded quota: small"))
	f.cluster.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })

	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, refusal) {
		t.Errorf("got error %v, want %v: the box has to be tried again", err, refusal)
	}
	check(t, "requests", []string{
		"get deployments web", "patch deployments web", "get services web", "patch services web",
		"update modelboxes/status web",
	}, f.requests())
	check(t, "applied", "False QuotaExceeded", f.status(t).applied)
}

func TestApplyNamesTheUIDAndForcesOnExistingChildrenOnly(t *testing.T) {
	for _, row := range []struct {
		name  string
		live  bool
		uid   string
		force bool
	}{
		{"a new child", false, "", false},
		{"a child that is there", true, "00000000-0000-4000-8000-00000000000d", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t))
			if row.live {
				f.cache(t, fixture.LiveDeployment(t))
			}
			f.ReconcileKey(t.Context(), fixture.WebKey)
			for _, action := range f.cluster.Actions() {
				patch, ok := action.(clienttesting.PatchActionImpl)
				if !ok || patch.Resource.Resource != "deployments" {
					continue
				}
				check(t, "patch", types.ApplyPatchType, patch.PatchType)
				check(t, "manager", "modelbox-apiserver", patch.PatchOptions.FieldManager)
				check(t, "force", &row.force, patch.PatchOptions.Force)
				check(t, "has the uid", row.uid != "", strings.Contains(string(patch.Patch), `"uid":"00000000`))
				return
			}
			t.Errorf("nothing was applied: %v", f.requests())
		})
	}
}

func TestStatusIsWrittenByTheFieldManager(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.mustReconcile(t)
	for _, action := range f.boxes.Actions() {
		if update, ok := action.(clienttesting.UpdateActionImpl); ok {
			check(t, "subresource", "status", update.Subresource)
			check(t, "manager", "modelbox-apiserver", update.UpdateOptions.FieldManager)
			return
		}
	}
	t.Errorf("no status was written: %v", f.requests())
}
