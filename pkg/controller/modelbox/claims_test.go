// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// withStorage gives the box a volume of 1Gi that outlives its pods.
func withStorage(changes ...func(*modelv1.ModelBoxStorage)) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		box.Spec.Storage = []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data", RequestedSize: resource.MustParse("1Gi")}}
		for _, change := range changes {
			change(&box.Spec.Storage[0])
		}
	}
}

func discarded(storage *modelv1.ModelBoxStorage) { storage.Retain = ptr.To(false) }

func sized(size string) func(*modelv1.ModelBoxStorage) {
	return func(storage *modelv1.ModelBoxStorage) { storage.RequestedSize = resource.MustParse(size) }
}

// newClaim returns a claim of 1Gi that no box has made.
func newClaim(name string, changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: fixture.WebKey.Namespace, UID: "foreign"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: ptr.To("slow"),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	for _, change := range changes {
		change(claim)
	}
	return claim
}

// ofBox labels a claim as a box or its StatefulSet does.
func ofBox(name string) func(*corev1.PersistentVolumeClaim) {
	return func(claim *corev1.PersistentVolumeClaim) {
		claim.Labels = map[string]string{modelv1.SelectorLabel: name, render.ManagedByLabel: render.ManagedBy}
	}
}

func controlledBy(apiVersion, kind, name string) func(*corev1.PersistentVolumeClaim) {
	return func(claim *corev1.PersistentVolumeClaim) {
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "other", Controller: ptr.To(true)}}
	}
}

func (f *testController) claim(t *testing.T, name string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim, err := f.cluster.CoreV1().PersistentVolumeClaims(fixture.WebKey.Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// seeClaims lets the cache see the claims that have the label that it selects by, and the rest as catchUp does.
func (f *testController) seeClaims(t *testing.T) {
	t.Helper()
	f.catchUp(t)
	claims, err := f.cluster.CoreV1().PersistentVolumeClaims(fixture.WebKey.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: render.ManagedByLabel + "=" + render.ManagedBy})
	if err != nil {
		t.Fatal(err)
	}
	trimmed := make([]any, 0, len(claims.Items))
	for i := range claims.Items {
		claim, err := kinds.TrimChild(&claims.Items[i])
		if err != nil {
			t.Fatal(err)
		}
		trimmed = append(trimmed, claim)
	}
	if err := f.storage.Claims.Replace(trimmed, ""); err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()
}

// next lets a box of another UID, with these changes, take the place of the one that there is.
func (f *testController) next(t *testing.T, changes ...func(*modelv1.ModelBox)) {
	t.Helper()
	f.update(t, func(box *modelv1.ModelBox) {
		*box = *fixture.WebBox(t, changes...)
		box.UID = "next"
	})
	f.seeClaims(t)
}

func sizeOf(claim *corev1.PersistentVolumeClaim) string {
	return claim.Spec.Resources.Requests.Storage().String()
}

func TestClaimIsCreatedAndKept(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, withStorage()))
	f.mustReconcile(t)
	claim := f.claim(t, "web-data")
	check(t, "size", "1Gi", sizeOf(claim))
	check(t, "owners", 0, len(claim.OwnerReferences))
	f.seeClaims(t)
	f.mustReconcile(t)
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "requests afterwards", []string(nil), f.requests())

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Storage, box.Generation = nil, 4 })
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "labels of what is taken out", "web", f.claim(t, "web-data").Labels[modelv1.SelectorLabel])
}

func TestClaimThatIsNotRetainedGoesAfterItsStorage(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, withStorage(discarded)))
	f.mustReconcile(t)
	claim := f.claim(t, "web-data")
	check(t, "owner", fixture.WebUID, string(metav1.GetControllerOf(claim).UID))
	storage := f.takeOutStorage(t)
	f.mustReconcile(t)
	check(t, "requests while the rollout runs", []string{"patch deployments web", "update modelboxes/status web"}, f.requests())

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Storage, box.Generation = storage, 5 })
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "UID of the claim after the change was taken back", claim.UID, f.claim(t, "web-data").UID)

	f.takeOutStorage(t)
	f.mustReconcile(t)
	f.completeRollout(t)
	pod := podOf("web-data")
	f.cache(t, pod)
	f.seeClaims(t)
	f.mustReconcile(t)
	f.claim(t, "web-data")

	if err := f.pods.Delete(pod); err != nil {
		t.Fatal(err)
	}
	f.seeClaims(t)
	f.cluster.ClearActions()
	f.boxes.ClearActions()
	f.mustReconcile(t)
	check(t, "requests when no pod has it", []string{"delete persistentvolumeclaims web-data", "get modelboxes web"}, f.requests())
}

// takeOutStorage takes all storage out of the box, and returns it.
func (f *testController) takeOutStorage(t *testing.T) (storage []modelv1.ModelBoxStorage) {
	t.Helper()
	f.update(t, func(box *modelv1.ModelBox) {
		storage, box.Spec.Storage, box.Generation = box.Spec.Storage, nil, box.Generation+1
	})
	f.seeClaims(t)
	f.cluster.ClearActions()
	return storage
}

func TestClaimThatMayBeNeededIsNotPruned(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*testing.T, *testController)
	}{
		{"of a box that has its storage again, which the cache does not know", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) {
				box.Spec.Storage, box.Generation = fixture.WebBox(t, withStorage(discarded)).Spec.Storage, box.Generation+1
			})
		}},
		{"of a box that was replaced, which the cache does not know", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) { box.UID = "next" })
		}},
		{"while another child fails", func(t *testing.T, f *testController) {
			f.cluster.PrependReactor("patch", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(corev1.Resource("services"), "web", errors.New("denied"))
			})
			service := f.service(t)
			service.Spec.Ports[0].Port++
			if err := f.cluster.Tracker().Update(corev1.SchemeGroupVersion.WithResource("services"), service, service.Namespace); err != nil {
				t.Fatal(err)
			}
			f.seeClaims(t)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t, withStorage(discarded)))
			f.mustReconcile(t)
			f.takeOutStorage(t)
			f.mustReconcile(t)
			f.completeRollout(t)
			f.seeClaims(t)
			row.change(t, f)
			f.cluster.ClearActions()
			if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); err == nil {
				t.Error("the reconcile does not fail")
			}
			if got := f.requests(); slices.Contains(got, "delete persistentvolumeclaims web-data") {
				t.Errorf("requests: %q", got)
			}
		})
	}
}

func TestClaimIsThatOfTheNextBox(t *testing.T) {
	for _, row := range []struct {
		name        string
		next        func(*modelv1.ModelBox)
		claim       func(*corev1.PersistentVolumeClaim)
		wantRequest string
		wantSize    string
		wantOwner   string
		wantApplied string
	}{
		{name: "as it is", next: withStorage(), wantSize: "1Gi", wantApplied: "True Applied"},
		{name: "it grows", next: withStorage(sized("2Gi")), wantRequest: "patch persistentvolumeclaims web-data", wantSize: "2Gi", wantApplied: "True Applied"},
		{name: "it does not shrink", next: withStorage(sized("1Mi")), wantRequest: "patch persistentvolumeclaims web-data", wantSize: "1Gi", wantApplied: "True Applied"},
		{name: "it is no longer retained", next: withStorage(discarded), wantRequest: "patch persistentvolumeclaims web-data", wantSize: "1Gi", wantOwner: "next", wantApplied: "True Applied"},
		{name: "it is not replaced for another class", next: withStorage(func(s *modelv1.ModelBoxStorage) { s.StorageClassName = ptr.To("fast") }),
			wantSize: "1Gi", wantApplied: "False Invalid"},
		{name: "it was made for another box, whose name and storage have the same name together", next: withStorage(), claim: ofBox("web-other"), wantSize: "1Gi",
			wantApplied: "False NotOwned"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t, withStorage()))
			f.mustReconcile(t)
			f.restart()
			if row.claim != nil {
				claim := f.claim(t, "web-data")
				row.claim(claim)
				if err := f.cluster.Tracker().Update(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), claim, claim.Namespace); err != nil {
					t.Fatal(err)
				}
			}
			f.next(t, row.next)
			f.cluster.ClearActions()
			if err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := f.cluster.CoreV1().Services(fixture.WebKey.Namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			f.seeClaims(t)
			f.mustReconcile(t)
			var got string
			for _, request := range f.requests() {
				if request == "patch persistentvolumeclaims web-data" || request == "delete persistentvolumeclaims web-data" {
					got = request
				}
			}
			check(t, "request", row.wantRequest, got)
			claim, owner := f.claim(t, "web-data"), ""
			if controller := metav1.GetControllerOf(claim); controller != nil {
				owner = string(controller.UID)
			}
			check(t, "size", row.wantSize, sizeOf(claim))
			check(t, "owner", row.wantOwner, owner)
			check(t, "applied", row.wantApplied, f.status(t).applied)
		})
	}
}

func TestClaimOfSomebodyElse(t *testing.T) {
	size := func(size string) func(*corev1.PersistentVolumeClaim) {
		return func(claim *corev1.PersistentVolumeClaim) {
			claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
		}
	}
	modes := func(modes ...corev1.PersistentVolumeAccessMode) func(*corev1.PersistentVolumeClaim) {
		return func(claim *corev1.PersistentVolumeClaim) { claim.Spec.AccessModes = modes }
	}
	adopting := func(box *modelv1.ModelBox) { box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"} }
	const (
		notOwned = "a PersistentVolumeClaim named web-data exists already and does not belong to this box: "
		adopt    = "delete it, give the box another name, or annotate the box with model.github.com/adopt=true to take it over"
		another  = "delete it or give the box another name"
	)
	for _, row := range []struct {
		name        string
		box         []func(*modelv1.ModelBox)
		claim       []func(*corev1.PersistentVolumeClaim)
		want        string
		wantChanged bool
	}{
		{name: "one that serves is used as it is"},
		{name: "a larger one is used as it is", claim: []func(*corev1.PersistentVolumeClaim){size("5Gi")}},
		{name: "one of more modes is used as it is", claim: []func(*corev1.PersistentVolumeClaim){modes(corev1.ReadWriteMany, corev1.ReadWriteOnce)}},
		{name: "one that is to go with the box is not made to", box: []func(*modelv1.ModelBox){withStorage(discarded)}},
		{name: "a smaller one does not serve", claim: []func(*corev1.PersistentVolumeClaim){size("1Mi")},
			want: notOwned + "its size is 1Mi, less than 1Gi; " + adopt},
		{name: "one of other modes does not serve", claim: []func(*corev1.PersistentVolumeClaim){modes(corev1.ReadOnlyMany)},
			want: notOwned + "its access modes are [ReadOnlyMany], without ReadWriteOnce; " + another},
		{name: "one of another class does not serve", box: []func(*modelv1.ModelBox){withStorage(func(s *modelv1.ModelBoxStorage) { s.StorageClassName = ptr.To("fast") })},
			want: notOwned + `its storage class is "slow" and cannot become "fast"; ` + another},
		{name: "one that was made for another box is left alone", claim: []func(*corev1.PersistentVolumeClaim){ofBox("web-data")}, want: notOwned + another},
		{name: "one that another controller controls is left alone", claim: []func(*corev1.PersistentVolumeClaim){controlledBy("v1", "Pod", "job")}, want: notOwned + another},
		{name: "one that was made for another box is not adopted", box: []func(*modelv1.ModelBox){withStorage(), adopting}, claim: []func(*corev1.PersistentVolumeClaim){ofBox("web-data")},
			want: notOwned + "it cannot be adopted, for it was made for web-data; " + another},
		{name: "a smaller one is adopted", box: []func(*modelv1.ModelBox){withStorage(), adopting}, claim: []func(*corev1.PersistentVolumeClaim){size("1Mi")}, wantChanged: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := newClaim("web-data", row.claim...)
			f := newTestController(t, fixture.WebBox(t, append([]func(*modelv1.ModelBox){withStorage()}, row.box...)...), before.DeepCopy())
			f.seeClaims(t)
			f.mustReconcile(t)
			want := "True Applied"
			if row.want != "" {
				want = "False NotOwned"
			}
			check(t, "applied", want, f.status(t).applied)
			for _, condition := range f.boxInServer(t).Status.Conditions {
				if condition.Type == modelv1.ConditionApplied && row.want != "" {
					check(t, "message", row.want, condition.Message)
				}
			}
			after := f.claim(t, "web-data")
			if row.wantChanged {
				check(t, "size", "1Gi", sizeOf(after))
				check(t, "class", "slow", *after.Spec.StorageClassName)
				return
			}
			check(t, "claim", before, after)
		})
	}
}

// newTerminatingClaimTest returns a controller of a box whose claim a user has deleted. The pods keep the claim from going.
func newTerminatingClaimTest(t *testing.T, storage ...func(*modelv1.ModelBoxStorage)) *testController {
	t.Helper()
	f := newTestController(t, fixture.WebBox(t, withStorage(storage...)))
	f.mustReconcile(t)
	claim := f.claim(t, "web-data")
	claim.UID, claim.DeletionTimestamp, claim.Finalizers = "going", ptr.To(metav1.Now()), []string{"kubernetes.io/pvc-protection"}
	if err := f.cluster.Tracker().Update(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), claim, claim.Namespace); err != nil {
		t.Fatal(err)
	}
	f.seeClaims(t)
	return f
}

func TestClaimThatIsBeingDeletedBlocksNoFixOfItsWorkload(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*testing.T, *testController)
		want   bool
	}{
		{"another image of pods that have the claim", func(*testing.T, *testController) {}, true},
		{"pods that do not have the claim", func(t *testing.T, f *testController) {
			f.changeDeployment(t, "modelbox-apiserver", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = nil })
		}, false},
		{"a workload that is not there", func(t *testing.T, f *testController) {
			if err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTerminatingClaimTest(t)
			row.change(t, f)
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image, box.Generation = "nginx:2", box.Generation+1 })
			f.seeClaims(t)
			if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrBeingDeleted) {
				t.Errorf("got error %v", err)
			}
			check(t, "is written", row.want, slices.Contains(f.requests(), "patch deployments web"))
			check(t, "applied", "False ChildBeingDeleted", f.status(t).applied)
		})
	}
}

// The pods of the predecessor keep the claim, and with that nothing but the end of its workload ends the wait.
func TestWorkloadOfAPredecessorGoesBeforeItsClaim(t *testing.T) {
	f := newTerminatingClaimTest(t, discarded)
	f.next(t, withStorage(discarded))
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrBeingDeleted) {
		t.Errorf("got error %v", err)
	}
	if got := f.requests(); !slices.Contains(got, "delete deployments web") || slices.Contains(got, "patch deployments web") {
		t.Errorf("requests: %q", got)
	}

	claims := f.cluster.CoreV1().PersistentVolumeClaims(fixture.WebKey.Namespace)
	if err := claims.Delete(t.Context(), "web-data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "owner of the claim", "next", string(metav1.GetControllerOf(f.claim(t, "web-data")).UID))
	check(t, "owner of the Deployment", "next", string(metav1.GetControllerOf(f.deployment(t)).UID))
}

// A user who runs out of space grows the claim manually.
func TestClaimThatGrewKeepsItsSize(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, withStorage()))
	f.mustReconcile(t)
	f.seeClaims(t)
	f.mustReconcile(t)
	claim := f.claim(t, "web-data")
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
	if _, err := f.cluster.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(t.Context(), claim, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.seeClaims(t)
		f.mustReconcile(t)
	}
	check(t, "size", "5Gi", sizeOf(f.claim(t, "web-data")))
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "requests afterwards", []string(nil), f.requests())
}

func TestClaimsOfPodsGrow(t *testing.T) {
	ofStatefulSet := controlledBy("apps/v1", "StatefulSet", "web")
	for _, row := range []struct {
		name     string
		box      func(*modelv1.ModelBox)
		claim    *corev1.PersistentVolumeClaim
		wantSize string
	}{
		{"of a pod", func(*modelv1.ModelBox) {}, newClaim("data-web-0", ofBox("web")), "2Gi"},
		{"of a pod that has gone", func(*modelv1.ModelBox) {}, newClaim("data-web-7", ofBox("web")), "2Gi"},
		{"that go with their StatefulSet", func(*modelv1.ModelBox) {}, newClaim("data-web-0", ofBox("web"), ofStatefulSet), "2Gi"},
		{"but not of other storage", func(*modelv1.ModelBox) {}, newClaim("log-web-0", ofBox("web")), "1Gi"},
		{"but not of another box", func(*modelv1.ModelBox) {}, newClaim("data-web-0", ofBox("shop")), "1Gi"},
		{"but not of another controller", func(*modelv1.ModelBox) {}, newClaim("data-web-0", ofBox("web"), controlledBy("v1", "Pod", "web")), "1Gi"},
		{"but not of a box that is paused", func(box *modelv1.ModelBox) { box.Spec.Paused = true }, newClaim("data-web-0", ofBox("web")), "1Gi"},
		{"but not of a Deployment", func(box *modelv1.ModelBox) { box.Spec.Workload = modelv1.WorkloadDeployment }, newClaim("data-web-0", ofBox("web")), "1Gi"},
		{"and do not shrink", withStorage(sized("1Mi")), newClaim("data-web-0", ofBox("web")), "1Gi"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Workload = modelv1.WorkloadStatefulSet }, withStorage(sized("2Gi")), row.box)
			f := newTestController(t, box, row.claim)
			f.seeClaims(t)
			result := &storage.Result{Box: box}
			if err := f.storage.GrowPodClaims(t.Context(), box, result); err != nil || len(result.Failures) > 0 {
				t.Fatal(err, result.Failures)
			}
			check(t, "size", row.wantSize, sizeOf(f.claim(t, row.claim.Name)))
		})
	}
}

func TestClaimThatMayNotGrowIsReportedAndTriedAgain(t *testing.T) {
	const refusal = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	for _, row := range []struct {
		name, claim string
		newTest     func(*testing.T) *testController
	}{
		{"of a Deployment", "web-data", func(t *testing.T) *testController {
			f := newTestController(t, fixture.WebBox(t, withStorage()))
			f.mustReconcile(t)
			return f
		}},
		{"of a StatefulSet", podClaim, func(t *testing.T) *testController { return newStatefulTest(t, discarded) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := row.newTest(t)
			clock := testingclock.NewFakePassiveClock(time.Now())
			f.Clock = clock
			f.update(t, func(box *modelv1.ModelBox) {
				box.Spec.Storage[0].RequestedSize, box.Generation = resource.MustParse("2Gi"), box.Generation+1
			})
			isRefused := true
			f.cluster.PrependReactor("patch", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
				return isRefused, nil, apierrors.NewForbidden(kinds.ClaimResource, row.claim, errors.New(refusal))
			})
			// tries reconciles and returns whether the cluster is asked, and after how long to requeue the box.
			tries := func() (bool, time.Duration) {
				f.seeClaims(t)
				requeueAfter := f.mustReconcile(t)
				return slices.Contains(f.requests(), "patch persistentvolumeclaims "+row.claim), requeueAfter
			}
			for _, step := range []struct {
				after     time.Duration
				wantTry   bool
				wantRetry time.Duration
			}{{0, true, 15 * time.Second}, {5 * time.Second, false, 10 * time.Second}, {10 * time.Second, true, 30 * time.Second}, {time.Second, false, 29 * time.Second}} {
				clock.SetTime(clock.Now().Add(step.after))
				tried, retry := tries()
				check(t, "is tried", step.wantTry, tried)
				check(t, "requeue after", step.wantRetry, retry)
				check(t, "applied", "False Forbidden", f.status(t).applied)
				message := messageOf(t, f.boxInServer(t).Status.Conditions, modelv1.ConditionApplied)
				check(t, "message", fmt.Sprintf("persistentvolumeclaims %q is forbidden: %s", row.claim, refusal), message)
			}
			// The controller asks at once for a size that it has not asked for before.
			f.update(t, func(box *modelv1.ModelBox) {
				box.Spec.Storage[0].RequestedSize, box.Generation = resource.MustParse("3Gi"), box.Generation+1
			})
			isRefused = false
			tried, _ := tries()
			check(t, "another size is tried", true, tried)
			check(t, "size", "3Gi", sizeOf(f.claim(t, row.claim)))
		})
	}
}

// The cache does not show a claim that has no label of a box. It is read once, and once more when it begins to be watched.
func TestClaimThatIsUsedIsWatchedAndNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestController(t, fixture.WebBox(t, withStorage()), newClaim("web-data"))
		reads := 0
		f.cluster.PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
			reads++
			return false, nil, nil
		})
		f.cluster.PrependWatchReactor("persistentvolumeclaims", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewRaceFreeFake(), nil
		})
		defer f.Queue.ShutDown()
		defer f.children.Wait()
		defer f.children.Forget(fixture.WebKey)
		for range 3 {
			f.mustReconcile(t)
			synctest.Wait()
			f.catchUp(t)
		}
		check(t, "reads", 2, reads)
	})
}

// The memory of the claim is lost with the process.
func TestPausedBoxUsesTheClaimOfSomebodyElseAfterARestart(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, withStorage()), newClaim("web-data"))
	f.mustReconcile(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Paused = true })
	f.restart()
	f.seeClaims(t)
	f.mustReconcile(t)
	check(t, "applied", "True Applied", f.status(t).applied)
}

func TestPodThatWaitsForAClaimSaysWhich(t *testing.T) {
	box := fixture.WebBox(t, withStorage())
	pod := newPod("web-1", func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "unbound"}}
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web-data"},
		}}}
	})
	for _, row := range []struct {
		name  string
		claim func(*corev1.PersistentVolumeClaim)
		want  string
	}{
		{"of a class", func(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimPending },
			`pod web-1: unbound; PersistentVolumeClaim web-data, of storage class "slow", is Pending`},
		{"of no class", func(claim *corev1.PersistentVolumeClaim) {
			claim.Status.Phase, claim.Spec.StorageClassName = corev1.ClaimPending, nil
		}, "pod web-1: unbound; PersistentVolumeClaim web-data, of no storage class, is Pending"},
		{"that is bound", func(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimBound }, "pod web-1: unbound"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, box, newClaim("web-data", ofBox("web"), row.claim))
			f.seeClaims(t)
			pending, err := f.storage.PendingClaims(box)
			if err != nil {
				t.Fatal(err)
			}
			failures := status.FindPodFailures(box, &status.Observation{Pods: []*corev1.Pod{pod}, PendingClaims: pending})
			check(t, "message", row.want, failures.Worst.Message)
		})
	}
}
