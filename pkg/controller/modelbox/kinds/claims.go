// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

var (
	ClaimGVK      = childkinds.PersistentVolumeClaim.GroupVersionKind
	ClaimResource = childkinds.PersistentVolumeClaim.GroupResource()
)

// claimKind returns the PersistentVolumeClaims of boxes as a kind of children: those that the pods of a Deployment share. Pods are
// indexed by their box.
func claimKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer, pods cache.Indexer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.PersistentVolumeClaim), informer,
		func(namespace string) children.Client[*corev1.PersistentVolumeClaim] {
			return cluster.CoreV1().PersistentVolumeClaims(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))
	kind.InUse = PodMounts{pods}.isClaimInUse
	return kind
}

// isClaimInUse returns whether a claim of storage that was taken out of the box has to stay. Its data may be needed until all
// of the box is as it says, and no pod of the box has the claim: until then a user may take the change back.
func (m PodMounts) isClaimInUse(box types.NamespacedName, child children.Object, result *children.Result) (bool, error) {
	workload := workloadIn(result, box.Name)
	if len(result.Failures) > 0 || isClaimedBy(workload, child.GetName()) {
		return true, nil
	}
	return m.IsMounted(box, workload, isVolumeOfClaim(child.GetName()))
}

// isVolumeOfClaim returns a function that tells whether a volume is the volume of the claim.
func isVolumeOfClaim(claim string) func(corev1.Volume) bool {
	return func(volume corev1.Volume) bool {
		return volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim
	}
}

// mountsClaim returns whether a prerequisite of the workload is a claim that its pods mount.
func mountsClaim(live, prerequisite children.Object) bool {
	workload := AsWorkload(live)
	_, isClaim := prerequisite.(*corev1.PersistentVolumeClaim)
	return workload != nil && isClaim && slices.ContainsFunc(workload.PodTemplate().Spec.Volumes, isVolumeOfClaim(prerequisite.GetName()))
}

// isClaimedBy returns whether the workload is a StatefulSet that gives its pods claims such as that one.
func isClaimedBy(workload Workload, claim string) bool {
	set, isStatefulSet := workload.(StatefulSet)
	return isStatefulSet && slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		return helper.IsPodClaimName(claim, set.Name, template.Name)
	})
}
