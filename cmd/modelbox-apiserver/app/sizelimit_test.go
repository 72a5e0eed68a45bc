// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/sizelimit"
)

// managedFieldsPatch adds an entry of managed fields with a field whose name has so many letters.
func managedFieldsPatch(t *testing.T, manager string, letters int) []byte {
	t.Helper()
	patch, err := json.Marshal([]map[string]any{{
		"op": "add", "path": "/metadata/managedFields/-",
		"value": map[string]any{
			"manager": manager, "operation": "Apply", "apiVersion": "model.github.com/v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:" + strings.Repeat("a", letters): map[string]any{}}}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

// isRefusal returns whether the server has understood a request and refused it. Managed fields that are too large are
// cleared, and a patch that adds another entry does not apply then.
func isRefusal(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err)
}

// A user who may patch one box must not make it so large that other users, or the server, cannot read it.
func TestManagedFieldsDoNotOutgrowAnObject(t *testing.T) {
	for _, row := range []struct {
		name             string
		patches, letters int
	}{
		{"few large entries", 24, 1_100_000},
		{"many small entries", 3 * sizelimit.MaxManagedFieldsEntries, 10},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := startServer(t)
			boxes := server.client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
			if _, err := boxes.Create(t.Context(), newNginx("web"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for i := range row.patches {
				patch := managedFieldsPatch(t, fmt.Sprintf("manager-%d", i), row.letters)
				if _, err := boxes.Patch(t.Context(), "web", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil && !isRefusal(err) {
					t.Fatalf("patch %d: %v", i, err)
				}
			}
			list, err := boxes.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 1 {
				t.Fatalf("%d boxes", len(list.Items))
			}
			if got := len(server.stored(t, "web")); got > sizelimit.MaxObjectBytes {
				t.Errorf("the box takes %d bytes", got)
			}
			if got := len(list.Items[0].ManagedFields); got > sizelimit.MaxManagedFieldsEntries {
				t.Errorf("the box has %d managers", got)
			}
			if err := boxes.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}
