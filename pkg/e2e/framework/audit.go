// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Audit returns the writes in a namespace, from the audit logs.
type Audit struct{ n *Namespace }

// ClusterWrites returns the requests of the server for writes in the namespace. It leaves out events, because they only report
// writes.
func (a Audit) ClusterWrites() []auditv1.Event {
	a.n.T.Helper()
	var writes []auditv1.Event
	for _, write := range ReadWrites(a.n.T, a.n.ControlPlane.ClusterAuditLog(), a.n.Name) {
		if write.User.Username == ServerUser && write.ObjectRef.Resource != "events" {
			writes = append(writes, write)
		}
	}
	return writes
}

// BoxWrites returns the writes of boxes in the namespace, by the controller and by the test.
func (a Audit) BoxWrites() []auditv1.Event {
	a.n.T.Helper()
	return ReadWrites(a.n.T, a.n.ControlPlane.ServerAuditLog(), a.n.Name)
}

// ChildWrites returns the writes of the Deployment and the Service of a box by the server.
func (a Audit) ChildWrites(box string) []string {
	a.n.T.Helper()
	var writes []string
	for _, write := range a.ClusterWrites() {
		if write.ObjectRef.Name == box {
			writes = append(writes, write.Verb+" "+write.ObjectRef.Resource)
		}
	}
	return writes
}

// StatusWrites returns the number of writes of the status of a box.
func (a Audit) StatusWrites(box string) int {
	a.n.T.Helper()
	count := 0
	for _, write := range a.BoxWrites() {
		if write.ObjectRef.Name == box && write.ObjectRef.Subresource == "status" {
			count++
		}
	}
	return count
}

// answerPatience is the longest time between the receipt of a write and its response. If a write has no response by then, its
// server was killed.
const answerPatience = 5 * time.Second

// ReadAuditLog returns the requests in an audit log whose lines contain the text. The effect of a write can be visible before its
// end is logged. Therefore, ReadAuditLog waits for the end of all writes that are in progress at the time of the call. It leaves
// out an incomplete last line.
func ReadAuditLog(t *testing.T, path, text string) []auditv1.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	begin := time.Now()
	var requests []auditv1.Event
	underWay := map[types.UID]time.Time{}
	var line []byte
	for reader := bufio.NewReader(file); ; {
		read, err := reader.ReadBytes('\n')
		line = append(line, read...)
		if errors.Is(err, io.EOF) {
			maps.DeleteFunc(underWay, func(_ types.UID, received time.Time) bool { return time.Since(received) > answerPatience })
			if len(underWay) == 0 {
				return requests
			}
			time.Sleep(PollInterval)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(line, []byte(text)) {
			var request auditv1.Event
			if err := json.Unmarshal(line, &request); err != nil {
				t.Fatalf("reading %s: %v: %s", path, err, line)
			}
			switch received := request.RequestReceivedTimestamp.Time; {
			case request.Stage != auditv1.StageRequestReceived:
				delete(underWay, request.AuditID)
				requests = append(requests, request)
			case received.Before(begin):
				underWay[request.AuditID] = received
			}
		}
		line = line[:0]
	}
}

// IsAccepted returns whether a write succeeded. A write with a conflict did not, and is retried.
func IsAccepted(write auditv1.Event) bool {
	return write.ResponseStatus.Code < http.StatusMultipleChoices
}

// ReadWrites returns the writes of objects in a namespace from an audit log.
func ReadWrites(t *testing.T, path, namespace string) []auditv1.Event {
	t.Helper()
	var writes []auditv1.Event
	for _, request := range ReadAuditLog(t, path, namespace) {
		if request.ObjectRef != nil && request.ObjectRef.Namespace == namespace &&
			!slices.Contains([]string{"get", "list", "watch"}, request.Verb) {
			writes = append(writes, request)
		}
	}
	return writes
}
