// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/rest"
)

// warnings notes those that the user of a request gets.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// TestRequestsAreMadeForThoseOfUsers adds a container for a request that has an audit ID, and one that has none.
func TestRequestsAreMadeForThoseOfUsers(t *testing.T) {
	var seen []string
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.String()+" "+r.Header.Get("Audit-Id"))
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.Header().Set("Warning", `299 - "would violate PodSecurity"`)
		_ = json.NewEncoder(w).Encode(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
	}))
	defer cluster.Close()
	access, err := New(&rest.Config{Host: cluster.URL}, oneStream, nil)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}}
	container := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"}}
	add := func(ctx context.Context) []string {
		var got warnings
		if err := access.AddEphemeralContainer(warning.WithWarningRecorder(ctx, &got), pod, &container, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Error(err)
		}
		return got
	}
	ofUser := audit.WithAuditContext(t.Context())
	audit.WithAuditID(ofUser, "the-audit-id")
	for _, ctx := range []context.Context{ofUser, t.Context()} {
		if diff := cmp.Diff([]string{"would violate PodSecurity"}, add(ctx)); diff != "" {
			t.Errorf("the warnings, -want +got:\n%s", diff)
		}
	}
	const path = "PATCH /api/v1/namespaces/default/pods/web-1/ephemeralcontainers?dryRun=All "
	if diff := cmp.Diff([]string{path + "the-audit-id", path}, seen); diff != "" {
		t.Errorf("the requests, -want +got:\n%s", diff)
	}
}
