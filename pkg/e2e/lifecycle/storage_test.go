// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// dataClaim returns the name of the claim of the first pod of the box web for the storage.
func dataClaim(kind modelv1.Workload, storage string) string {
	if kind == modelv1.WorkloadStatefulSet {
		return storage + "-web-0"
	}
	return "web-" + storage
}

// eachStorage runs the test for each kind of workload that has storage, with volumes for three claims.
func eachStorage(t *testing.T, test func(n *framework.Namespace, kind modelv1.Workload)) {
	t.Parallel()
	for _, kind := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateVolumes(3, true)
			test(n, kind)
		})
	}
}

func TestRetainedStorageIsThatOfTheNextBox(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		box := framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data"))
		n.CreateReadyBox(box)
		before := n.AwaitBoundClaim(dataClaim(kind, "data"))
		n.ExpectConverged("web")

		n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
		n.Eventually("the pods are gone", func() error {
			pods, err := n.LivePods("web")
			if err == nil && len(pods) > 0 {
				err = fmt.Errorf("there are %d", len(pods))
			}
			return err
		})
		n.CreateReadyBox(box)
		after := n.AwaitBoundClaim(before.Name)
		framework.ExpectEqual(n.T, "UID of the claim", before.UID, after.UID)
		framework.ExpectEqual(n.T, "volume", before.Spec.VolumeName, after.Spec.VolumeName)
		n.ExpectConverged("web")

		n.UpdateBox("web", framework.WithoutStorage)
		n.AwaitReady("web")
		framework.ExpectEqual(n.T, "UID of what is taken out", before.UID, n.AwaitBoundClaim(before.Name).UID)
	})
}

func TestDiscardedStorageGoesWithItsBox(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data", framework.Discarded)))
		n.AwaitBoundClaim(dataClaim(kind, "data"))
		n.ExpectConverged("web")
		n.Kubectl.Run("delete", "mb", "web")
		n.AwaitNoClaim(dataClaim(kind, "data"))
	})
}

func TestGrownStorage(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data")))
		before, pods := n.AwaitBoundClaim(dataClaim(kind, "data")), n.PodUIDs("web")
		n.UpdateBox("web", n.WithStorage("data", framework.Sized("2Gi")))
		after := n.AwaitClaimSize(before.Name, "2Gi")
		framework.ExpectEqual(n.T, "UID of the claim", before.UID, after.UID)
		n.AwaitReady("web")
		framework.ExpectEqual(n.T, "pods", pods, n.PodUIDs("web"))
		n.Events.Await("web", "UpdatedPersistentVolumeClaim", before.Name)
		n.ExpectConverged("web")
	})
}

// TestGrowthThatIsRefusedCanBeTakenBack requests a larger size than the storage class allows: first immediately, and then after a
// pause in which the class has changed.
func TestGrowthThatIsRefusedCanBeTakenBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateVolumes(1, false)
			n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data")))
			claim, pods := n.AwaitBoundClaim(dataClaim(kind, "data")), n.PodUIDs("web")
			grow := []string{"patch", "modelbox", "web", `--patch={"spec": {"paused": true, "storage": [{"name": "data", "size": "2Gi"}]}}`}

			refused := framework.RunKubectl(n.Kubectl.Command(grow...), "")
			if want := fmt.Sprintf("spec.storage[0].size: Forbidden: PersistentVolumeClaim %s cannot grow", claim.Name); refused.Err == nil || !strings.Contains(refused.Stderr, want) {
				t.Errorf("growth is answered with %s, want %q, %v", refused.Stderr, want, refused.Err)
			}
			n.Kubectl.Run("patch", "storageclass", n.Name, `--patch={"allowVolumeExpansion": true}`)
			n.Kubectl.Run(grow...)
			n.Kubectl.Run("patch", "storageclass", n.Name, `--patch={"allowVolumeExpansion": false}`)
			n.Eventually("kube-apiserver refuses the growth", func() error {
				trial := n.Kubectl.Command("patch", "pvc", claim.Name, "--dry-run=server", `--patch={"spec": {"resources": {"requests": {"storage": "2Gi"}}}}`)
				if framework.RunKubectl(trial, "").Err == nil {
					return errors.New("it does not")
				}
				return nil
			})
			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
			n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonNotApplied, claim.Name, "the storageclass that provisions the pvc must support resize")
			n.AwaitBox("web", "says why it is not applied", func(box *modelv1.ModelBox) error {
				return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonForbidden)
			})

			n.UpdateBox("web", n.WithStorage("data", framework.Sized("1Gi")))
			n.AwaitReady("web")
			framework.ExpectEqual(t, "UID of the claim", claim.UID, n.AwaitClaimSize(claim.Name, "1Gi").UID)
			framework.ExpectEqual(t, "pods", pods, n.PodUIDs("web"))
			n.ExpectConverged("web")
		})
	}
}

// TestStorageIsRetainedOfAPausedBox removes the storage and deletes the box before a spec that retains the storage is applied.
func TestStorageIsRetainedOfAPausedBox(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data", framework.Discarded)))
		before := n.AwaitBoundClaim(dataClaim(kind, "data"))
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
		n.UpdateBox("web", n.WithStorage("data"))
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
			framework.WithoutStorage(spec)
			spec.Paused = false
		})
		n.AwaitReady("web")
		n.ExpectConverged("web")
		n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
		after := n.AwaitBoundClaim(before.Name)
		framework.ExpectEqual(n.T, "UID of the claim", before.UID, after.UID)
		if after.DeletionTimestamp != nil || len(after.OwnerReferences) > 0 {
			n.T.Errorf("the claim is being deleted since %v, and has the owners %v", after.DeletionTimestamp, after.OwnerReferences)
		}
	})
}

// TestExistingClaimIsUsedWithoutAChange checks that a box uses a suitable claim without a controller, and does not replace, change
// or delete it.
func TestExistingClaimIsUsedWithoutAChange(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateVolumes(1, true)
	foreign := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "web-data", Labels: map[string]string{"app": "foreign"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: ptr.To(n.Name),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if _, err := n.Claims.Create(n.Ctx, foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := n.AwaitBoundClaim("web-data")
	n.CreateReadyBox(framework.NewBox("web", n.WithStorage("data", framework.Discarded)))
	n.ExpectConverged("web")

	n.UpdateBox("web", n.WithStorage("data", framework.Discarded, framework.Sized("2Gi")))
	n.AwaitNotOwned("web")
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonNotApplied, "its size is 1Gi, less than 2Gi")
	n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
	after := n.AwaitBoundClaim("web-data")
	for _, claim := range []*corev1.PersistentVolumeClaim{before, after} {
		// Kubernetes 1.37 reports in the status whether a pod uses it.
		claim.ManagedFields, claim.ResourceVersion, claim.Status.Conditions = nil, "", nil
	}
	framework.ExpectEqual(t, "the claim", before, after)
}

// TestStorageThatIsAddedToAStatefulSetReplacesIt checks that the controller replaces the StatefulSet, because its claim templates
// are immutable.
func TestStorageThatIsAddedToAStatefulSetReplacesIt(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][]func(*modelv1.ModelBoxStorage){"retained": nil, "discarded": {framework.Discarded}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateVolumes(4, true)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(modelv1.WorkloadStatefulSet), n.WithStorage("data", changes...)))
			data, before := n.AwaitBoundClaim("data-web-0"), n.GetWorkload(modelv1.WorkloadStatefulSet, "web").GetUID()

			n.UpdateBox("web", n.WithStorage("logs", changes...))
			n.Events.Await("web", "ReplacedStatefulSet", "volumeClaimTemplates")
			n.AwaitReady("web")
			n.Events.Await("web", "DeletedPod", "web-1")
			if n.GetWorkload(modelv1.WorkloadStatefulSet, "web").GetUID() == before {
				t.Error("the StatefulSet is the one before")
			}
			n.AwaitBoundClaim("logs-web-0")
			n.AwaitBoundClaim("logs-web-1")
			framework.ExpectEqual(t, "UID of the claim that there was", data.UID, n.AwaitBoundClaim("data-web-0").UID)
			n.ExpectConverged("web")
		})
	}
}

// TestDiscardedStorageThatIsTakenOutIsDeleted checks that the controller deletes the claim after no pod uses it, and no other
// claim.
func TestDiscardedStorageThatIsTakenOutIsDeleted(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data", framework.Discarded), n.WithStorage("logs", framework.Discarded)))
		logs := n.AwaitBoundClaim(dataClaim(kind, "logs"))
		n.AwaitBoundClaim(dataClaim(kind, "data"))
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Storage = spec.Storage[1:] })
		n.AwaitNoClaim(dataClaim(kind, "data"))
		n.AwaitReady("web")
		n.Events.Await("web", "PrunedPersistentVolumeClaim", dataClaim(kind, "data"))
		framework.ExpectEqual(n.T, "UID of the claim that stays", logs.UID, n.AwaitBoundClaim(logs.Name).UID)
		n.ExpectConverged("web")
	})
}

// TestStorageThatABadChangeTakesOutComesBack checks that a claim is not deleted before the pods without it are ready.
func TestStorageThatABadChangeTakesOutComesBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateVolumes(1, true)
	n.CreateReadyBox(framework.NewBox("web", n.WithStorage("data", framework.Discarded)))
	before := n.AwaitBoundClaim("web-data")
	good := n.GetBox("web").Spec
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		framework.WithoutStorage(spec)
		framework.Unschedulable(spec)
	})
	n.AwaitReadyCondition("web", metav1.ConditionFalse, corev1.PodReasonUnschedulable)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { *spec = good })
	n.AwaitReady("web")
	after := n.AwaitBoundClaim("web-data")
	framework.ExpectEqual(t, "UID of the claim", before.UID, after.UID)
	if after.DeletionTimestamp != nil {
		t.Error("the claim is being deleted")
	}
	n.ExpectConverged("web")
}

// TestClaimThatIsDeletedIsClaimedAgain checks that a deleted claim is created again after its pods are deleted.
func TestClaimThatIsDeletedIsClaimedAgain(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateVolumes(2, true)
	n.CreateReadyBox(framework.NewBox("web", n.WithStorage("data")))
	before := n.AwaitBoundClaim("web-data")
	n.Kubectl.Run("delete", "pvc", "web-data", "--wait=false")
	n.Kubectl.Run("delete", "pods", "--selector=modelbox=web")
	n.AwaitClaim("web-data", "is another one", func(claim *corev1.PersistentVolumeClaim) error {
		if claim.UID == before.UID {
			return errors.New("it is the one before")
		}
		return nil
	})
	n.AwaitReady("web")
}

func TestClaimWithoutAVolumeIsWhyABoxIsNotReady(t *testing.T) {
	eachStorage(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.CreateBox(framework.NewBox("web", framework.WithWorkload(kind), n.WithStorage("data", func(storage *modelv1.ModelBoxStorage) {
			storage.StorageClassName = ptr.To("missing")
		})))
		n.AwaitReadyCondition("web", metav1.ConditionFalse, corev1.PodReasonUnschedulable,
			"PersistentVolumeClaim "+dataClaim(kind, "data")+`, of storage class "missing", is Pending`)
	})
}
