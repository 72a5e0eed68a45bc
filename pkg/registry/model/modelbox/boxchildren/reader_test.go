// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func newBox(workload modelv1.Workload) *modelv1.ModelBox {
	meta := metaOf("web")
	meta.UID = "box"
	return &modelv1.ModelBox{ObjectMeta: meta, Spec: modelv1.ModelBoxSpec{Workload: workload, Storage: []modelv1.ModelBoxStorage{{Name: "data"}}}}
}

func metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "shop"}
}

func autoscalerOf(apiVersion, kind, name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metaOf("by-load"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name},
	}}
}

// controlled is the metadata of an object with the labels of box web, controlled by what has that kind, name and UID, such as
// "Deployment web".
func controlled(name string, uid types.UID, apiVersion, kindAndName string, controller types.UID) metav1.ObjectMeta {
	meta := metaOf(name)
	meta.UID, meta.Labels = uid, map[string]string{modelv1.SelectorLabel: "web"}
	if controller != "" {
		kind, name, _ := strings.Cut(kindAndName, " ")
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: controller, Controller: ptr.To(true)}}
	}
	return meta
}

// ofBox is the metadata of an object that the box controls.
func ofBox(name string) metav1.ObjectMeta {
	return controlled(name, "", "model.github.com/v1", "ModelBox web", "box")
}

func mayGetAll(schema.GroupVersionResource, string) bool { return true }

func TestLive(t *testing.T) {
	deployment, set, daemons := &appsv1.Deployment{ObjectMeta: ofBox("web")}, &appsv1.StatefulSet{ObjectMeta: ofBox("web")}, &appsv1.DaemonSet{ObjectMeta: ofBox("web")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: ofBox("web-data")}
	for _, row := range []struct {
		name     string
		workload modelv1.Workload
		cluster  []runtime.Object
		want     modelboxrender.Live
	}{
		{"nothing", modelv1.WorkloadDeployment, nil, modelboxrender.Live{}},
		{"an autoscaler of what is not there", modelv1.WorkloadDeployment, []runtime.Object{autoscalerOf("apps/v1", "Deployment", "web")}, modelboxrender.Live{}},
		{"a Deployment and a claim", modelv1.WorkloadDeployment, []runtime.Object{deployment, claim},
			modelboxrender.Live{Workload: deployment, Claims: map[string]*corev1.PersistentVolumeClaim{"web-data": claim}}},
		{"a Deployment that is scaled", modelv1.WorkloadDeployment, []runtime.Object{deployment, autoscalerOf("apps/v1", "Deployment", "web")},
			modelboxrender.Live{Workload: deployment, IsScaled: true}},
		{"a box that is scaled", modelv1.WorkloadDeployment, []runtime.Object{deployment, autoscalerOf("model.github.com/v1", "ModelBox", "web")},
			modelboxrender.Live{Workload: deployment}},
		{"another Deployment that is scaled", modelv1.WorkloadDeployment, []runtime.Object{deployment, autoscalerOf("apps/v1", "Deployment", "mail")},
			modelboxrender.Live{Workload: deployment}},
		{"a StatefulSet, whose claims are its own", modelv1.WorkloadStatefulSet, []runtime.Object{set, deployment, claim}, modelboxrender.Live{Workload: set}},
		{"a DaemonSet", modelv1.WorkloadDaemonSet, []runtime.Object{daemons, deployment}, modelboxrender.Live{Workload: daemons}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.want.Claims == nil {
				row.want.Claims = map[string]*corev1.PersistentVolumeClaim{}
			}
			got, err := NewReader(fake.NewClientset(row.cluster...), nil).Live(t.Context(), newBox(row.workload), func(schema.GroupVersionResource, string) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got, cmp.Transformer("Name", nameOf)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A user creates a box with the name of a Deployment and of a claim that are not the box's, and reads what the box becomes.
func TestLiveOfObjectsThatTheBoxDoesNotControl(t *testing.T) {
	adopting := map[string]string{modelv1.AdoptAnnotation: "true"}
	written := func(meta metav1.ObjectMeta) metav1.ObjectMeta {
		meta.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: render.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + modelv1.RenderHashAnnotation + `":{}}}}`),
		}}
		return meta
	}
	labelled := func(name, box string) metav1.ObjectMeta {
		meta := metaOf(name)
		meta.Labels = map[string]string{modelv1.SelectorLabel: box}
		return meta
	}
	ofName := func(owner string) func(string) metav1.ObjectMeta {
		return func(name string) metav1.ObjectMeta {
			meta := ofBox(name)
			meta.OwnerReferences[0].Name = owner
			return meta
		}
	}
	of := func(apiVersion, kind string, uid types.UID) func(string) metav1.ObjectMeta {
		return func(name string) metav1.ObjectMeta { return controlled(name, "", apiVersion, kind, uid) }
	}
	for _, row := range []struct {
		name        string
		annotations map[string]string
		meta        func(name string) metav1.ObjectMeta
		mayGet      bool
		// workload and claim are whether the render takes something from them.
		workload, claim bool
	}{
		{"the box's own", nil, of("model.github.com/v1", "ModelBox web", "box"), false, true, true},
		{"of another version of the API", nil, of("model.github.com/v2", "ModelBox web", "box"), false, true, true},
		{"without a controller", nil, metaOf, true, false, false},
		{"without a controller, with the label of the box", nil, func(name string) metav1.ObjectMeta { return labelled(name, "web") }, true, false, false},
		{"of another box", nil, of("model.github.com/v1", "ModelBox web", "another"), true, false, false},
		{"of a box of another name", nil, ofName("mail"), true, false, false},
		{"of an object of another group with the UID of the box", nil, of("example.com/v1", "ModelBox web", "box"), true, false, false},
		{"of an object of another kind with the UID of the box", nil, of("model.github.com/v1", "ModelStack web", "box"), true, false, false},
		{"retained for the box", nil, func(name string) metav1.ObjectMeta { return written(labelled(name, "web")) }, false, false, true},
		{"retained for the box, or without its owner reference, for who may get it", nil,
			func(name string) metav1.ObjectMeta { return written(labelled(name, "web")) }, true, true, true},
		{"retained for another box", nil, func(name string) metav1.ObjectMeta { return written(labelled(name, "mail")) }, true, false, false},
		{"to be adopted, for who may get it", adopting, metaOf, true, true, true},
		{"to be adopted, for who may not get it", adopting, metaOf, false, false, false},
		{"of another box, to be adopted", adopting, of("model.github.com/v1", "ModelBox web", "another"), true, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			secret := map[string]string{modelv1.SelectorLabel: "web", "secret": "label"}
			deployment := &appsv1.Deployment{ObjectMeta: row.meta("web"), Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: secret},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: secret}},
			}}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: row.meta("web-data"), Spec: corev1.PersistentVolumeClaimSpec{
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("77Gi")}},
			}}
			box := newBox(modelv1.WorkloadDeployment)
			box.Annotations = row.annotations
			box.Spec.Name, box.Spec.Image = "web", "nginx:1"
			box.Spec.Storage[0].MountPath, box.Spec.Storage[0].RequestedSize, box.Spec.Storage[0].Retain = "/data", resource.MustParse("1Gi"), ptr.To(true)
			modelv1.SetObjectDefaults_ModelBox(box)
			var asked []string
			live, err := NewReader(fake.NewClientset(deployment, claim), nil).Live(t.Context(), box, func(resource schema.GroupVersionResource, name string) bool {
				asked = append(asked, resource.GroupResource().String()+" "+name)
				return row.mayGet
			})
			if err != nil {
				t.Fatal(err)
			}
			children, err := modelboxrender.RenderForLive(box, live)
			if err != nil {
				t.Fatal(err)
			}
			var rendered strings.Builder
			for _, child := range children {
				if err := json.NewEncoder(&rendered).Encode(child); err != nil {
					t.Fatal(err)
				}
			}
			if shown := strings.Contains(rendered.String(), "secret"); shown != row.workload {
				t.Errorf("the selector of the Deployment is shown: %t, want %t", shown, row.workload)
			}
			if shown := strings.Contains(rendered.String(), "77Gi"); shown != row.claim {
				t.Errorf("the size of the claim is shown: %t, want %t", shown, row.claim)
			}
			for _, question := range asked {
				if question != "deployments.apps web" && question != "persistentvolumeclaims web-data" {
					t.Errorf("the right to get %s is asked for", question)
				}
			}
		})
	}
}

// nameOf leaves out of the metadata what a fake cluster may add.
func nameOf(meta metav1.ObjectMeta) string { return meta.Namespace + "/" + meta.Name }

func TestLiveSaysWhatCannotBeRead(t *testing.T) {
	for resource, want := range map[string]string{
		"deployments":              "reading Deployment web: it is unavailable",
		"horizontalpodautoscalers": "listing the HorizontalPodAutoscalers: it is unavailable",
		"persistentvolumeclaims":   "reading PersistentVolumeClaim web-data: it is unavailable",
	} {
		t.Run(resource, func(t *testing.T) {
			client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: ofBox("web")})
			client.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("it is unavailable")
			})
			_, err := NewReader(client, nil).Live(t.Context(), newBox(modelv1.WorkloadDeployment), mayGetAll)
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
