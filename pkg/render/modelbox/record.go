// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

const (
	// maxRecordBytes is how large a box may be in a record before it is compressed.
	maxRecordBytes = 512 << 10

	// otherAnnotationBytes are left on a Deployment, and on its ReplicaSets, for annotations that are not of the box:
	// some 100 bytes of this controller's, 2,300 of the Deployment controller's, and those that people set.
	otherAnnotationBytes = 16 << 10
)

// Record returns the value of modelv1.RecordAnnotation for the box: its identity, metadata and spec, without status,
// resourceVersion and managed fields. What Kubernetes lets an object have in annotations is shared with spec.annotations;
// where that is too little, metadata is left out as render.EncodeRecord says. It is render.ErrRecordTooLarge when not even
// the rest fits, which no valid spec causes.
func Record(box *modelv1.ModelBox) (string, error) {
	limit := apivalidation.TotalAnnotationSizeLimitB - otherAnnotationBytes - len(modelv1.RecordAnnotation)
	for key, value := range box.Spec.Annotations {
		limit -= len(key) + len(value)
	}
	recorded := &modelv1.ModelBox{ObjectMeta: render.RecordedMeta(box), Spec: box.Spec}
	return render.EncodeRecord(recorded, render.RecordLimits{Object: maxRecordBytes, Value: limit})
}

// ReadRecord returns the box of a record, see render.DecodeRecord.
func ReadRecord(value string) (*modelv1.ModelBox, error) {
	box := &modelv1.ModelBox{}
	limits := render.RecordLimits{Object: maxRecordBytes, Value: apivalidation.TotalAnnotationSizeLimitB}
	if err := render.DecodeRecord(value, box, limits); err != nil {
		return nil, err
	}
	return box, nil
}
