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
// resourceVersion and managed fields. The limit of Kubernetes for annotations includes spec.annotations. If the record exceeds it,
// metadata is left out, see render.EncodeRecord. It returns render.ErrRecordTooLarge if the rest is still too large, which is not
// the case for any valid spec.
func Record(box *modelv1.ModelBox) (string, error) {
	return recordBeside(box, nil)
}

// recordBeside is like Record for a workload with these annotations.
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

// IsRecordOf returns whether a record has the name, the namespace and the spec of this box. It ignores the UID.
func IsRecordOf(box *modelv1.ModelBox, record string) bool {
	recorded, err := ReadRecord(record)
	if err != nil || recorded.Namespace != box.Namespace || recorded.Name != box.Name {
		return false
	}
	modelv1.SetObjectDefaults_ModelBox(recorded)
	return apiequality.Semantic.DeepEqual(recorded.Spec, box.Spec)
}
