// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// newOptions returns options for a cluster with these objects. Typed and dynamic clients both have the objects of core and apps,
// but do not see each other's changes.
func newOptions(t *testing.T, objects ...runtime.Object) *options {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(deploymentKind, meta.RESTScopeNamespace)
	mapper.Add(serviceKind, meta.RESTScopeNamespace)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	return &options{
		IOStreams: streams,
		timeout:   5 * time.Second,
		dryRun:    dryRunNone,
		clients: &clients{
			cluster:     kubefake.NewClientset(objects...),
			boxes:       fake.NewSimpleClientset(),
			dynamic:     dynamicfake.NewSimpleDynamicClient(clientgoscheme.Scheme, objects...),
			apiServices: aggregatorfake.NewSimpleClientset(),
			mapper:      mapper,
		},
	}
}

// store stores a box in the server.
func (o *options) store(t *testing.T, box *modelv1.ModelBox) {
	t.Helper()
	if _, err := o.clients.boxes.ModelV1().ModelBoxes(box.Namespace).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// webDeployment is what an operator has made of the box web.
func webDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "uid-of-deployment", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "web", UID: "uid-of-web", Controller: ptr.To(true)},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "uid-of-other"},
			},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1"}}},
			},
		},
	}
}

// webBox is the box web as it was exported with its Deployment.
func webBox(t *testing.T, metadata map[string]any) *exportedBox {
	t.Helper()
	child, err := runtime.DefaultUnstructuredConverter.ToUnstructured(webDeployment())
	if err != nil {
		t.Fatal(err)
	}
	return &exportedBox{
		Namespace: "shop", Name: "web", UID: "uid-of-web",
		Pods:     []pod{{"web-abc-1", "uid-of-pod", 0}},
		object:   custom("web", map[string]any{"image": "nginx:1"}, metadata),
		children: []*unstructured.Unstructured{{Object: child}},
	}
}
