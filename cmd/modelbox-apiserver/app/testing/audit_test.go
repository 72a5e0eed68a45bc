// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

func TestAuditPolicyLogsWhatUsersChange(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	server := StartTestServer(t,
		"--audit-policy-file=../../../../artifacts/components/audit/audit-policy.yaml",
		"--audit-log-path="+log, "--audit-log-mode=blocking-strict")
	client, err := versioned.NewForConfig(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	boxes := client.ModelV1().ModelBoxes(metav1.NamespaceDefault)
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
	if box, err = boxes.Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := boxes.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := boxes.UpdateStatus(t.Context(), box, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := boxes.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var got []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Level == auditv1.LevelRequest && event.Verb == "create" && event.RequestObject == nil {
			t.Error("what was created is not in the log")
		}
		got = append(got, event.Verb+" "+event.ObjectRef.Resource+" "+event.ObjectRef.Subresource)
	}
	if diff := cmp.Diff([]string{"create modelboxes ", "delete modelboxes "}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
