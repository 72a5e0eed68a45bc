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

// Revision is a current or former revision of the workload of a box.
type Revision struct {
	// ObjectMeta is the metadata of the ReplicaSet or ControllerRevision. Its annotations include annotations of the workload: on a
	// ReplicaSet from the last time when it was the newest, on a ControllerRevision from its creation.
	metav1.ObjectMeta
	// Number counts the rollouts of the workload.
	Number int64
	// Images are the images of the containers of the pods.
	Images []string
}

// RecordedBox returns the box that the pods of the revision were rendered from, or an error with the reason why it is unknown. box
// is the owner of the workload. The returned box is defaulted, but need not be valid, because users who can write ReplicaSets can
// write records.
//
// The record of a paused box may have changes that the pods do not have. Therefore, the record is accepted only if this release
// renders it to the pods of the revision. isValid returns whether a box can be rendered.
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

// IsRenderOf returns whether this release renders the box to the workload of the revision. The box must be valid.
func (r *Revision) IsRenderOf(box *modelv1.ModelBox) bool {
	children, err := Children(box, ScaledByBox)
	return err == nil && render.Hash(children[0]) == render.Hash(r)
}
