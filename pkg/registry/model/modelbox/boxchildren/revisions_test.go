// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var selector = &metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "web"}}

// ownedBy returns the metadata of an object that the one with the UID controls.
func ownedBy(name string, owner types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: types.UID(name), Labels: selector.MatchLabels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "web", UID: owner, Controller: ptr.To(true)}},
	}
}

func replicaSetOf(owner types.UID, revision, image string) *appsv1.ReplicaSet {
	set := &appsv1.ReplicaSet{ObjectMeta: ownedBy("web-"+revision, owner)}
	if revision != "" {
		set.Annotations = map[string]string{revisionAnnotation: revision}
	}
	set.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}, {Name: "log", Image: "log:1"}}}
	return set
}

func controllerRevisionOf(owner types.UID, revision int64, data string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: ownedBy("web-"+strconv.FormatInt(revision, 10), owner), Revision: revision, Data: runtime.RawExtension{Raw: []byte(data)},
	}
}

func patchTo(image string) string {
	return fmt.Sprintf(`{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"name":"web","image":%q}]}}}}`, image)
}

func TestRevisions(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: ownedBy("web", "box"), Spec: appsv1.DeploymentSpec{Selector: selector}}
	set := &appsv1.StatefulSet{ObjectMeta: ownedBy("web", "box"), Spec: appsv1.StatefulSetSpec{Selector: selector}}
	daemons := &appsv1.DaemonSet{ObjectMeta: ownedBy("web", "box"), Spec: appsv1.DaemonSetSpec{Selector: selector}}
	foreign := deployment.DeepCopy()
	foreign.OwnerReferences[0].UID = "other"
	many := []runtime.Object{deployment}
	var newest []string
	for i := range maxRevisions + 3 {
		many = append(many, replicaSetOf("web", strconv.Itoa(i+1), "nginx"))
		if i >= 3 {
			newest = append(newest, fmt.Sprintf("%d [nginx log:1]", i+1))
		}
	}
	for _, row := range []struct {
		name     string
		workload modelv1.Workload
		cluster  []runtime.Object
		want     []string
	}{
		{"no workload", modelv1.WorkloadDeployment, []runtime.Object{replicaSetOf("web", "1", "nginx:1")}, nil},
		{"a Deployment of another controller", modelv1.WorkloadDeployment, []runtime.Object{foreign, replicaSetOf("web", "1", "nginx:1")}, nil},
		{"a Deployment", modelv1.WorkloadDeployment, []runtime.Object{deployment, replicaSetOf("web", "10", "nginx:2"), replicaSetOf("web", "9", "nginx:1"), replicaSetOf("other", "8", "nginx:0"), replicaSetOf("web", "", "nginx:3")},
			[]string{"9 [nginx:1 log:1]", "10 [nginx:2 log:1]"}},
		{"more than there may be", modelv1.WorkloadDeployment, many, newest},
		{"a StatefulSet", modelv1.WorkloadStatefulSet, []runtime.Object{set, controllerRevisionOf("web", 2, patchTo("nginx:2")), controllerRevisionOf("web", 1, patchTo("nginx:1")), controllerRevisionOf("other", 3, patchTo("nginx:3"))},
			[]string{"1 [nginx:1]", "2 [nginx:2]"}},
		{"a DaemonSet", modelv1.WorkloadDaemonSet, []runtime.Object{daemons, controllerRevisionOf("web", 1, patchTo("nginx:1"))}, []string{"1 [nginx:1]"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := newBox(row.workload)
			box.UID = "box"
			revisions, err := NewReader(fake.NewClientset(row.cluster...), nil).Revisions(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, revision := range revisions {
				got = append(got, fmt.Sprint(revision.Number, " ", revision.Images))
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRevisionsSaysWhatCannotBeRead(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: ownedBy("web", "box"), Spec: appsv1.DeploymentSpec{Selector: selector}}
	set := &appsv1.StatefulSet{ObjectMeta: ownedBy("web", "box"), Spec: appsv1.StatefulSetSpec{Selector: selector}}
	for _, row := range []struct {
		resource string
		workload modelv1.Workload
		cluster  []runtime.Object
		want     string
	}{
		{"deployments", modelv1.WorkloadDeployment, nil, "reading Deployment web: it is unavailable"},
		{"replicasets", modelv1.WorkloadDeployment, []runtime.Object{deployment}, "listing the ReplicaSets of Deployment web: it is unavailable"},
		{"controllerrevisions", modelv1.WorkloadStatefulSet, []runtime.Object{set}, "listing the ControllerRevisions of web: it is unavailable"},
		{"nothing", modelv1.WorkloadStatefulSet, []runtime.Object{set, controllerRevisionOf("web", 1, "[]")},
			"reading ControllerRevision web-1: json: cannot unmarshal array into Go value of type boxchildren.workloadPatch"},
	} {
		t.Run(row.want, func(t *testing.T) {
			client := fake.NewClientset(row.cluster...)
			client.PrependReactor("*", row.resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("it is unavailable")
			})
			box := newBox(row.workload)
			box.UID = "box"
			if _, err := NewReader(client, nil).Revisions(t.Context(), box); err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}
