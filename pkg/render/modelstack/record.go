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

// recordLimits allow the record of every valid stack: its spec has at most 512 KiB, and its annotations 256 KiB. In base64, the
// record fits into a request to etcd of 1.5 MiB. Decoded is the limit of a request for a stack.
var recordLimits = render.RecordLimits{Object: 768 << 10, Value: 1 << 20, Decoded: 128 << 20}

// recordInfix separates the name of a stack and the hash of its record.
const recordInfix = ".modelstack."

// recordData is the data in the ControllerRevision of a stack.
type recordData struct {
	Record string `json:"record"`
}

// Record returns the ControllerRevision with the record of the stack: its identity, metadata and spec, without status,
// resourceVersion and managed fields. The data of a ControllerRevision is immutable, so each record is a separate object, and its
// name has the hash of the record. The name has a dot after the last hyphen. The revisions of StatefulSets and DaemonSets have none
// there, so that their names differ. The garbage collector deletes the ControllerRevision after the deletion of the stack, and not
// before.
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

// IsRecordName returns whether a ControllerRevision with the name is a record of the stack.
func IsRecordName(name, stack string) bool {
	return stack != "" && strings.HasPrefix(name, stack+recordInfix)
}

// ReadRecord returns the stack in a ControllerRevision, see render.DecodeRecord.
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
