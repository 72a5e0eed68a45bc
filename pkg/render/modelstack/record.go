// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// recordLimits let every valid stack be recorded: its spec has at most 512 KiB, and its annotations 256 KiB. With base64, its
// record fits into a request to etcd, of 1.5 MiB. It takes as much memory as a request for a stack may.
var recordLimits = render.RecordLimits{Object: 768 << 10, Value: 1 << 20, Decoded: 128 << 20}

// recordInfix is between the name of a stack and the hash of its record.
const recordInfix = ".modelstack."

// recordData is the data of the ControllerRevision of a stack.
type recordData struct {
	Record string `json:"record"`
}

// Record returns the ControllerRevision that records the stack: its identity, metadata and spec, without status, resourceVersion
// and managed fields. Its data cannot be changed, so its name identifies its content: another record is another object. The name
// has a dot after the last hyphen, where the name of a revision of a StatefulSet or DaemonSet has none, so no other object has it.
// The garbage collector deletes the ControllerRevision after the stack is gone, and not before.
func Record(stack *modelv1.ModelStack) (*unstructured.Unstructured, error) {
	recorded := &modelv1.ModelStack{ObjectMeta: render.RecordedMeta(stack), Spec: stack.Spec}
	value, err := render.EncodeRecord(recorded, recordLimits)
	if err != nil {
		return nil, fmt.Errorf("recording stack %s: %w", stack.Name, err)
	}
	data, err := json.Marshal(recordData{Record: value})
	if err != nil {
		return nil, fmt.Errorf("encoding the record of stack %s: %w", stack.Name, err)
	}
	hash := sha256.Sum256([]byte(value))
	return render.WithHash(applyappsv1.ControllerRevision(stack.Name+recordInfix+hex.EncodeToString(hash[:5]), stack.Namespace).
		WithLabels(map[string]string{
			render.ManagedByLabel: render.ManagedBy,
			partOfLabel:           stack.Name,
			modelv1.StackLabel:    stack.Name,
		}).
		WithOwnerReferences(render.OwnerReference(stack, Kind).WithBlockOwnerDeletion(false)).
		WithRevision(stack.Generation).
		WithData(runtime.RawExtension{Raw: data}))
}

// IsRecordName returns whether a ControllerRevision of the name records the stack.
func IsRecordName(name, stack string) bool {
	return stack != "" && strings.HasPrefix(name, stack+recordInfix)
}

// ReadRecord returns the stack of a ControllerRevision, see render.DecodeRecord.
func ReadRecord(revision *appsv1.ControllerRevision) (*modelv1.ModelStack, error) {
	var data recordData
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		return nil, fmt.Errorf("decoding its data: %w", err)
	}
	stack := &modelv1.ModelStack{}
	if err := render.DecodeRecord(data.Record, stack, recordLimits); err != nil {
		return nil, err
	}
	return stack, nil
}
