// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Revision is what the cluster keeps of one of the things that the pods of a box have been.
type Revision struct {
	// ObjectMeta is that of the ReplicaSet or ControllerRevision. Of its annotations there are those of the workload: for a
	// ReplicaSet as they were at last while it was the newest one, for a ControllerRevision as they were when it was made.
	metav1.ObjectMeta
	// Number counts the rollouts of the workload.
	Number int64
	// Images are those of the containers of the pods.
	Images []string
}

// RecordedBox returns the box as it was, with which the pods of the revision were rendered, or an error that says why that is
// not known. box is the one that the workload belongs to. The box is defaulted, and need not be valid: users who can write
// ReplicaSets can write a record.
//
// While a box is paused, its record tells what it will be. That this is what the pods are as well is known where this release
// renders into it what they were made of. isValid says which boxes can be rendered.
func (r *Revision) RecordedBox(box *modelv1.ModelBox, isValid func(*modelv1.ModelBox) bool) (*modelv1.ModelBox, error) {
	value, isRecorded := r.Annotations[modelv1.RecordAnnotation]
	if !isRecorded {
		return nil, errors.New("the box was not recorded")
	}
	recorded, err := ReadRecord(value)
	if err == nil && isRolledBack(r, recorded) {
		recorded, err = ReadRecord(r.Annotations[modelv1.StableRecordAnnotation])
	}
	if err != nil {
		return nil, err
	}
	if recorded.UID != box.UID || recorded.Namespace != box.Namespace || recorded.Name != box.Name {
		return nil, fmt.Errorf("another box was recorded: %s/%s with the UID %s", recorded.Namespace, recorded.Name, recorded.UID)
	}
	modelv1.SetObjectDefaults_ModelBox(recorded)
	if recorded.Spec.Paused && !(isValid(recorded) && r.IsRenderOf(recorded)) {
		return nil, errors.New("the box was changed while it was paused")
	}
	return recorded, nil
}

// IsRenderOf returns whether the workload that the revision belongs to was rendered from the box, by this release. The box
// is valid.
func (r *Revision) IsRenderOf(box *modelv1.ModelBox) bool {
	children, err := Children(box, ScaledByBox)
	return err == nil && render.Hash(children[0]) == render.Hash(r)
}
