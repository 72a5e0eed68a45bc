// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/google/go-cmp/cmp"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestChangedBy(t *testing.T) {
	replicas, image := fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "image")
	probe, httpGet := fieldpath.MakePathOrDie("probe", "tcpSocket"), fieldpath.MakePathOrDie("probe", "httpGet")
	at := func(hour int, entry metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
		entry.Time = ptr.To(metav1.Date(2026, time.January, 1, hour, 0, 0, 0, time.UTC))
		return entry
	}
	entry := func(manager string, fields ...fieldpath.Path) metav1.ManagedFieldsEntry {
		return fixture.ManagedBy(t, fixture.LiveDeployment(t), manager, metav1.ManagedFieldsOperationUpdate, fieldpath.NewSet(fields...))
	}
	for _, row := range []struct {
		name        string
		entries     []metav1.ManagedFieldsEntry
		fields      *fieldpath.Set
		conflicting *fieldpath.Set
		want        map[string][]string
	}{
		{"no manager, when nothing is known", nil, fieldpath.NewSet(replicas), fieldpath.NewSet(), map[string][]string{"": {".spec.replicas"}}},
		{"the manager that set the field", []metav1.ManagedFieldsEntry{entry("kubectl", replicas)}, fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"kubectl": {".spec.replicas"}}},
		{"each of several for what they set", []metav1.ManagedFieldsEntry{entry("kubectl", replicas), entry("helm", image)},
			fieldpath.NewSet(replicas, image), fieldpath.NewSet(), map[string][]string{"kubectl": {".spec.replicas"}, "helm": {".spec.image"}}},
		{"not the controller itself", []metav1.ManagedFieldsEntry{entry("modelbox-apiserver", replicas)}, fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"": {".spec.replicas"}}},
		{"the last one of several", []metav1.ManagedFieldsEntry{at(1, entry("first", replicas)), at(3, entry("last", replicas)), at(2, entry("second", replicas))},
			fieldpath.NewSet(replicas), fieldpath.NewSet(), map[string][]string{"last": {".spec.replicas"}}},
		{"the manager that set what is in the way", []metav1.ManagedFieldsEntry{entry("kubectl", httpGet)}, fieldpath.NewSet(probe, replicas), fieldpath.NewSet(httpGet),
			map[string][]string{"kubectl": {".probe.tcpSocket"}, "": {".spec.replicas"}}},
		{"no manager whose fields cannot be read", []metav1.ManagedFieldsEntry{{Manager: "broken", FieldsV1: metav1.NewFieldsV1("{")}, {Manager: "empty"}},
			fieldpath.NewSet(replicas), fieldpath.NewSet(), map[string][]string{"": {".spec.replicas"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := map[string][]string{}
			for manager, fields := range fields.ChangedBy(&metav1.ObjectMeta{ManagedFields: row.entries}, row.fields, row.conflicting) {
				got[manager] = fixture.Paths(fields)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
