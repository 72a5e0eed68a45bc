// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPrintDiff(t *testing.T) {
	t.Parallel()
	web := metav1.ObjectMeta{Name: "web"}
	same := modelv1.ModelBoxChildDiff{Kind: "Service", Name: "web", Action: modelv1.DiffActionNone}
	ignored := same
	ignored.Fields = []modelv1.ModelBoxFieldDiff{{Path: "spec.sessionAffinity", Live: `"ClientIP"`, Wanted: `"None"`, Manager: "kubectl-edit", Ignored: true}}
	for _, row := range []struct {
		name        string
		diff        *modelv1.ModelBoxDiff
		out, errOut string
		differs     bool
	}{
		{"nothing differs", &modelv1.ModelBoxDiff{ObjectMeta: web, Children: []modelv1.ModelBoxChildDiff{same}}, "", "", false},
		{"an ignored field", &modelv1.ModelBoxDiff{ObjectMeta: web, Children: []modelv1.ModelBoxChildDiff{ignored}}, `ModelBox/web
  Service/web: None
    spec.sessionAffinity: "ClientIP" -> "None" (set by kubectl-edit, ignored)
`, "", false},
		{"a child that may not be seen", &modelv1.ModelBoxDiff{ObjectMeta: web, Children: []modelv1.ModelBoxChildDiff{
			{Kind: "Service", Name: "web", Action: modelv1.DiffActionUnknown, Message: "not shown: you may not get services"}, same,
		}}, "", "warning: Service/web: not shown: you may not get services\n", false},
		{"a paused box", &modelv1.ModelBoxDiff{ObjectMeta: web, Paused: true, Children: []modelv1.ModelBoxChildDiff{
			{Kind: "Deployment", Name: "web", Action: modelv1.DiffActionUpdate, Effect: "will roll 4 pods when the box is unpaused", OmittedFields: 3, Fields: []modelv1.ModelBoxFieldDiff{
				{Path: "spec.minReadySeconds", Live: "77", Wanted: "3", Manager: "kubectl-edit"},
				{Path: `spec.template.spec.containers[name="web"].image`, Live: `"nginx:1.7.9"`, Manager: "modelbox-apiserver"},
			}},
			{Kind: "Service", Name: "web", Action: modelv1.DiffActionReplace, Effect: "replaces the Service", Message: "it has a cluster IP and cannot become headless"},
		}}, `ModelBox/web (paused)
  Deployment/web: Update, will roll 4 pods when the box is unpaused
    spec.minReadySeconds: 77 -> 3 (set by kubectl-edit)
    spec.template.spec.containers[name="web"].image: "nginx:1.7.9" -> <none>
    (3 more)
  Service/web: Replace, replaces the Service: it has a cluster IP and cannot become headless
`, "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var out, errOut bytes.Buffer
			printDiff(&out, &errOut, row.diff)
			if diff := cmp.Diff(row.out, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.errOut, errOut.String()); diff != "" {
				t.Errorf("on the standard error, -want +got:\n%s", diff)
			}
			if differs(row.diff) != row.differs {
				t.Errorf("it differs: %t", !row.differs)
			}
		})
	}
}
