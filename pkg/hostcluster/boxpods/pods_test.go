// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxpods

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// controlled is the metadata of an object with the labels of box web, controlled by what has that kind, name and UID, such as
// "Deployment web".
func controlled(name string, uid types.UID, apiVersion, kindAndName string, controller types.UID) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid, Labels: map[string]string{modelv1.SelectorLabel: "web"}}
	if controller != "" {
		kind, name, _ := strings.Cut(kindAndName, " ")
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: controller, Controller: ptr.To(true)}}
	}
	return meta
}

func TestPodsAreThoseThatTheWorkloadControls(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "web"}}
	deployment := func(controller types.UID) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: controlled("web", "deployment", "model.github.com/v1", "ModelBox web", controller), Spec: appsv1.DeploymentSpec{Selector: selector}}
	}
	foreignGroup := deployment("box")
	foreignGroup.OwnerReferences[0].APIVersion = "example.com/v1"
	set := &appsv1.StatefulSet{ObjectMeta: controlled("web", "set", "model.github.com/v1", "ModelBox web", "box"), Spec: appsv1.StatefulSetSpec{Selector: selector}}
	daemons := &appsv1.DaemonSet{ObjectMeta: controlled("web", "daemons", "model.github.com/v1", "ModelBox web", "box"), Spec: appsv1.DaemonSetSpec{Selector: selector}}
	others := []runtime.Object{
		&appsv1.ReplicaSet{ObjectMeta: controlled("web-1", "old", "apps/v1", "Deployment web", "deployment")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("web-2", "new", "apps/v1", "Deployment web", "deployment")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("foreign", "foreign", "apps/v1", "Deployment web", "another")},
		&corev1.Pod{ObjectMeta: controlled("web-1-a", "", "apps/v1", "ReplicaSet web-1", "old")},
		&corev1.Pod{ObjectMeta: controlled("web-2-a", "", "apps/v1", "ReplicaSet web-2", "new")},
		&corev1.Pod{ObjectMeta: controlled("foreign-a", "", "apps/v1", "ReplicaSet foreign", "foreign")},
		&corev1.Pod{ObjectMeta: controlled("by-hand", "", "", "", "")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("of-another-group", "of-another-group", "example.com/v1", "Deployment web", "deployment")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("of-another-kind", "of-another-kind", "apps/v1", "StatefulSet web", "deployment")},
		&appsv1.ReplicaSet{ObjectMeta: controlled("of-another-name", "of-another-name", "apps/v1", "Deployment mail", "deployment")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-1", "", "apps/v1", "ReplicaSet of-another-group", "of-another-group")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-2", "", "apps/v1", "ReplicaSet of-another-kind", "of-another-kind")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-3", "", "apps/v1", "ReplicaSet of-another-name", "of-another-name")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-4", "", "example.com/v1", "ReplicaSet web-1", "old")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-5", "", "apps/v1", "StatefulSet web-1", "old")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-6", "", "apps/v1", "ReplicaSet web-2", "old")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-7", "", "apps/v1", "ReplicaSet web-1", "made-up")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-8", "", "apps/v1", "StatefulSet web", "made-up")},
		&corev1.Pod{ObjectMeta: controlled("by-hand-9", "", "apps/v1", "DaemonSet web", "set")},
		&corev1.Pod{ObjectMeta: controlled("web-0", "", "apps/v1", "StatefulSet web", "set")},
		&corev1.Pod{ObjectMeta: controlled("web-d", "", "apps/v1", "DaemonSet web", "daemons")},
	}
	for _, row := range []struct {
		name     string
		workload modelv1.Workload
		live     runtime.Object
		want     []string
	}{
		{"of a Deployment, the pods of its ReplicaSets", modelv1.WorkloadDeployment, deployment("box"), []string{"web-1-a", "web-2-a"}},
		{"of a StatefulSet", modelv1.WorkloadStatefulSet, set, []string{"web-0"}},
		{"of a DaemonSet", modelv1.WorkloadDaemonSet, daemons, []string{"web-d"}},
		{"none of a Deployment that another box controls", modelv1.WorkloadDeployment, deployment("former"), nil},
		{"none of a Deployment that something else of the UID controls", modelv1.WorkloadDeployment, foreignGroup, nil},
		{"none of a Deployment without a controller", modelv1.WorkloadDeployment, deployment(""), nil},
		{"none without a workload", modelv1.WorkloadStatefulSet, deployment("box"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := &modelv1.ModelBox{ObjectMeta: controlled("web", "box", "", "", ""), Spec: modelv1.ModelBoxSpec{Workload: row.workload}}
			pods, err := NewReader(fake.NewClientset(append(others, row.live)...)).Pods(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range pods {
				names = append(names, pods[i].Name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(row.want, names); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
