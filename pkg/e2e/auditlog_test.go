// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// readAuditLog returns the requests in an audit log whose lines contain the text. A last line that is still being
// written is left out.
func readAuditLog(t *testing.T, path, text string) []auditv1.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var requests []auditv1.Event
	for reader := bufio.NewReader(file); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, []byte(text)) {
			continue
		}
		var request auditv1.Event
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatalf("reading %s: %v: %s", path, err, line)
		}
		requests = append(requests, request)
	}
}

// readWrites returns the requests in an audit log for changes of objects in a namespace.
func readWrites(t *testing.T, path, namespace string) []auditv1.Event {
	t.Helper()
	var writes []auditv1.Event
	for _, request := range readAuditLog(t, path, namespace) {
		if request.ObjectRef != nil && request.ObjectRef.Namespace == namespace &&
			!slices.Contains([]string{"get", "list", "watch"}, request.Verb) {
			writes = append(writes, request)
		}
	}
	return writes
}
