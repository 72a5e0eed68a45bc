// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func newBox(workload modelv1.Workload) *modelv1.ModelBox {
	return &modelv1.ModelBox{ObjectMeta: metaOf("web"), Spec: modelv1.ModelBoxSpec{Workload: workload, Storage: []modelv1.ModelBoxStorage{{Name: "data"}}}}
}

func metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "shop"}
}

func autoscalerOf(apiVersion, kind, name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metaOf("by-load"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name},
	}}
}

func TestLive(t *testing.T) {
	deployment, set, daemons := &appsv1.Deployment{ObjectMeta: metaOf("web")}, &appsv1.StatefulSet{ObjectMeta: metaOf("web")}, &appsv1.DaemonSet{ObjectMeta: metaOf("web")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metaOf("web-data")}
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
			got, err := NewReader(fake.NewClientset(row.cluster...), nil).Live(t.Context(), newBox(row.workload))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got, cmp.Transformer("Name", nameOf)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// nameOf leaves out of the metadata what a fake cluster may add.
func nameOf(meta metav1.ObjectMeta) string { return meta.Namespace + "/" + meta.Name }

func TestLiveSaysWhatCannotBeRead(t *testing.T) {
	for resource, want := range map[string]string{
		"deployments":              "reading Deployment web: it is away",
		"horizontalpodautoscalers": "listing the HorizontalPodAutoscalers: it is away",
		"persistentvolumeclaims":   "reading PersistentVolumeClaim web-data: it is away",
	} {
		t.Run(resource, func(t *testing.T) {
			client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: metaOf("web")})
			client.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("it is away")
			})
			_, err := NewReader(client, nil).Live(t.Context(), newBox(modelv1.WorkloadDeployment))
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
