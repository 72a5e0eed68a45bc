// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package claimresize

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// warnings records those of a request.
type warnings []string

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func newBox(workload model.Workload, size string) *model.ModelBox {
	return &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       model.ModelBoxSpec{Workload: workload, Image: "nginx:1.7.9", Storage: []model.ModelBoxStorage{{Name: "data", RequestedSize: resource.MustParse(size)}}},
	}
}

func newStack(size string) *model.ModelStack {
	return &model.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec: model.ModelStackSpec{Components: []model.ModelStackComponent{
			{Name: "db", BoxName: "web", Box: &newBox(model.WorkloadDeployment, size).Spec},
		}},
	}
}

func newClaim(name, box, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{modelv1.SelectorLabel: box}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(class),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
		},
	}
}

func newClass(name string, expandable *bool) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, AllowVolumeExpansion: expandable}
}

func TestStorageThatGrowsInVainIsWarnedOf(t *testing.T) {
	const deployment, statefulSet = model.WorkloadDeployment, model.WorkloadStatefulSet
	fixedClass := func(claim string) string {
		return "spec.storage[0].size: PersistentVolumeClaim " + claim + ` cannot grow as long as allowVolumeExpansion of storage class "fixed" is not true`
	}
	for _, row := range []struct {
		name     string
		new, old runtime.Object
		claim    *corev1.PersistentVolumeClaim
		want     warnings
	}{
		{"its class does not allow it", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "web", "fixed"), warnings{fixedClass("web-data")}},
		{"its class says nothing of it", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "web", "silent"),
			warnings{`spec.storage[0].size: PersistentVolumeClaim web-data cannot grow as long as allowVolumeExpansion of storage class "silent" is not true`}},
		{"its class allows it", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "web", "elastic"), nil},
		{"its class is gone", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "web", "gone"),
			warnings{`spec.storage[0].size: PersistentVolumeClaim web-data cannot grow: there is no storage class "gone"`}},
		{"its volume was made by hand", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "web", ""),
			warnings{"spec.storage[0].size: PersistentVolumeClaim web-data has no storage class, and cannot grow"}},
		{"of a StatefulSet", newBox(statefulSet, "3Gi"), newBox(statefulSet, "2Gi"), newClaim("data-web-0", "web", "fixed"), warnings{fixedClass("data-web-0")}},
		{"of a box of a stack", newStack("3Gi"), newStack("2Gi"), newClaim("web-data", "web", "fixed"),
			warnings{`spec.components[0].box.storage[0].size: PersistentVolumeClaim web-data cannot grow as long as allowVolumeExpansion of storage class "fixed" is not true`}},
		{"the claim is as large already", newBox(deployment, "2Gi"), newBox(deployment, "1Gi"), newClaim("web-data", "web", "fixed"), nil},
		{"there is no claim", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("other-data", "web", "fixed"), nil},
		{"the claim is somebody else's", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), newClaim("web-data", "other", "fixed"), nil},
		{"the storage stays as it is", newBox(deployment, "3Gi"), newBox(deployment, "3Gi"), newClaim("web-data", "web", "fixed"), nil},
		{"the storage is new", newBox(deployment, "3Gi"), &model.ModelBox{}, newClaim("web-data", "web", "fixed"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := validate(t, row.new, row.old, fake.NewClientset(row.claim, newClass("fixed", ptr.To(false)), newClass("silent", nil), newClass("elastic", ptr.To(true))))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster that does not answer, or does not let the server ask, keeps nobody from an update.
func TestNothingIsSaidWithoutAnAnswer(t *testing.T) {
	for _, resource := range []string{"persistentvolumeclaims", "storageclasses"} {
		t.Run(resource, func(t *testing.T) {
			client := fake.NewClientset(newClaim("web-data", "web", "fixed"), newClass("fixed", nil))
			client.PrependReactor("get", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
			if got := validate(t, newBox(model.WorkloadDeployment, "3Gi"), newBox(model.WorkloadDeployment, "2Gi"), client); got != nil {
				t.Errorf("warnings: %q", got)
			}
		})
	}
}

// validate returns the warnings of an update, which is not refused.
func validate(t *testing.T, object, old runtime.Object, client *fake.Clientset) warnings {
	t.Helper()
	plugin := newPlugin()
	plugin.SetExternalKubeClientSet(client)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	kind, resource := "ModelBox", "modelboxes"
	if _, isStack := object.(*model.ModelStack); isStack {
		kind, resource = "ModelStack", "modelstacks"
	}
	attributes := admission.NewAttributesRecord(object, old, modelv1.SchemeGroupVersion.WithKind(kind), "default", "web",
		modelv1.SchemeGroupVersion.WithResource(resource), "", admission.Update, nil, false, nil)
	var got warnings
	if err := plugin.Validate(warning.WithWarningRecorder(t.Context(), &got), attributes, nil); err != nil {
		t.Error(err)
	}
	return got
}
