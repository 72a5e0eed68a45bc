// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestClaimSizes(t *testing.T) {
	claim := func(box, name, size string) *corev1.PersistentVolumeClaim {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metaOf(name)}
		claim.Labels = map[string]string{modelv1.SelectorLabel: box}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		return claim
	}
	client := fake.NewClientset(
		claim("web", "web-data", "3Gi"), claim("web", "data-web-0", "1Gi"), claim("web", "data-web-1", "2Gi"),
		claim("web", "data-web-old", "9Gi"), claim("mail", "data-web-2", "9Gi"))
	for _, row := range []struct {
		workload modelv1.Workload
		storage  string
		want     map[string]string
	}{
		{modelv1.WorkloadDeployment, "data", map[string]string{"data": "3Gi"}},
		{modelv1.WorkloadStatefulSet, "data", map[string]string{"data": "2Gi"}},
		{modelv1.WorkloadStatefulSet, "cache", map[string]string{}},
	} {
		box := newBox(row.workload)
		box.Spec.Storage[0].Name = row.storage
		sizes, err := NewReader(client, nil).ClaimSizes(t.Context(), box)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for storage, size := range sizes {
			got[storage] = size.String()
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("storage %s of a %s, -want +got:\n%s", row.storage, row.workload, diff)
		}
	}
}

func TestClaimSizesWithoutAnAnswer(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("it is unavailable")
	})
	if _, err := NewReader(client, nil).ClaimSizes(t.Context(), newBox(modelv1.WorkloadDeployment)); err == nil ||
		err.Error() != "listing the PersistentVolumeClaims of web: it is unavailable" {
		t.Errorf("got %v", err)
	}
}
