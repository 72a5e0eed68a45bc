// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"maps"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Record returns the value of modelv1.RecordAnnotation for the box: its identity, metadata and spec, without status,
// resourceVersion and managed fields. What Kubernetes lets an object have in annotations is shared with spec.annotations;
// where that is too little, metadata is left out as render.EncodeRecord says. It is render.ErrRecordTooLarge when not even
// the rest fits, which no valid spec causes.
func Record(box *modelv1.ModelBox) (string, error) {
	return recordBeside(box, nil)
}

// recordBeside is Record where there are these annotations as well.
func recordBeside(box *modelv1.ModelBox, annotations map[string]string) (string, error) {
	beside := box.Spec.Annotations
	if len(annotations) > 0 {
		beside = maps.Clone(annotations)
		maps.Copy(beside, box.Spec.Annotations)
	}
	recorded := &modelv1.ModelBox{ObjectMeta: render.RecordedMeta(box), Spec: box.Spec}
	return render.EncodeRecordAnnotation(recorded, beside)
}

// ReadRecord returns the box of a record, see render.DecodeRecord.
func ReadRecord(value string) (*modelv1.ModelBox, error) {
	box := &modelv1.ModelBox{}
	if err := render.DecodeRecordAnnotation(value, box); err != nil {
		return nil, err
	}
	return box, nil
}

// IsRecordOf returns whether a record is of a box with the name, the namespace and the spec of this one, of whatever UID.
func IsRecordOf(box *modelv1.ModelBox, record string) bool {
	recorded, err := ReadRecord(record)
	if err != nil || recorded.Namespace != box.Namespace || recorded.Name != box.Name {
		return false
	}
	modelv1.SetObjectDefaults_ModelBox(recorded)
	return apiequality.Semantic.DeepEqual(recorded.Spec, box.Spec)
}
