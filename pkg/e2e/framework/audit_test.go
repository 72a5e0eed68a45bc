// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

func TestReadAuditLogAwaitsTheEndsOfWrites(t *testing.T) {
	const text = "e2e-"
	for _, row := range []struct {
		name string
		// later is appended to the log a second after the log is opened.
		log, later func() []auditv1.Event
		want       []types.UID
	}{
		{
			name:  "nothing is under way",
			log:   func() []auditv1.Event { return []auditv1.Event{received("a"), completed("a")} },
			later: func() []auditv1.Event { return []auditv1.Event{received("b"), completed("b")} },
			want:  []types.UID{"a"},
		},
		{
			name:  "a write is under way",
			log:   func() []auditv1.Event { return []auditv1.Event{received("a"), received("b"), completed("a")} },
			later: func() []auditv1.Event { return []auditv1.Event{received("c"), completed("b")} },
			want:  []types.UID{"a", "b"},
		},
		{
			name:  "a write has no end",
			log:   func() []auditv1.Event { return []auditv1.Event{received("a"), received("b"), completed("b")} },
			later: func() []auditv1.Event { return nil },
			want:  []types.UID{"b"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			synctest.Test(t, func(t *testing.T) {
				appendAuditLog(t, path, row.log())
				time.Sleep(time.Millisecond)
				go func() {
					time.Sleep(time.Second)
					appendAuditLog(t, path, row.later())
				}()
				var got []types.UID
				for _, request := range ReadAuditLog(t, path, text) {
					got = append(got, request.AuditID)
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

func received(id types.UID) auditv1.Event { return event(id, auditv1.StageRequestReceived) }

func completed(id types.UID) auditv1.Event { return event(id, auditv1.StageResponseComplete) }

func event(id types.UID, stage auditv1.Stage) auditv1.Event {
	return auditv1.Event{
		AuditID: id, Stage: stage, RequestURI: "/api/v1/namespaces/e2e-1/services",
		RequestReceivedTimestamp: metav1.NowMicro(),
	}
}

func appendAuditLog(t *testing.T, path string, requests []auditv1.Event) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	for _, request := range requests {
		if err := json.NewEncoder(file).Encode(request); err != nil {
			t.Error(err)
		}
	}
}
