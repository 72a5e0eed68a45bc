// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// boxKind is the kind of boxes. A box is recorded in an annotation of its workload.
var boxKind = &kind{
	noun:              "box",
	plural:            "boxes",
	name:              "ModelBox",
	resource:          "modelboxes",
	replacedDirectory: "replaced",
	newObject:         func() object { return &model.ModelBox{} },
	newList:           func() runtime.Object { return &model.ModelBoxList{} },
	conditions:        func(box object) []metav1.Condition { return box.(*model.ModelBox).Status.Conditions },
	setRecorded:       func(box, from object) { setRecordedBox(box.(*model.ModelBox), from.(*model.ModelBox)) },
	isSameRecorded: func(a, b object) bool {
		return apiequality.Semantic.DeepEqual(a.(*model.ModelBox).Spec, b.(*model.ModelBox).Spec) &&
			apiequality.Semantic.DeepEqual(a.(*model.ModelBox).Status.Rollout, b.(*model.ModelBox).Status.Rollout)
	},
	controlling:  modelboxrender.ControllingBox,
	validateName: validation.ValidateModelBoxName,
	listRecords:  eachWorkload,
	readRecord: func(workload metav1.Object) (metav1.Object, error) {
		value, err := recordAnnotation(workload)
		if err != nil {
			return nil, err
		}
		record, err := modelboxrender.ReadRecord(value)
		if err != nil {
			return nil, err
		}
		record.Status = modelv1.ModelBoxStatus{Rollout: modelboxrender.RecordedRollout(workload, record)}
		return record, nil
	},
	fromRecord: func(record metav1.Object) (object, error) { return newBox(record.(*modelv1.ModelBox)) },
	addLive:    addTraffic,
	recovered:  recoveredBoxes,
}

// setRecordedBox sets the spec and the rollout of the recorded box. The steps of a rollout in an older store are over: with its status, the
// controller would route the traffic to pods that no longer exist. A rollout without steps routes no traffic, and keeps its status.
func setRecordedBox(box, recorded *model.ModelBox) {
	box.Spec = recorded.Spec
	if isInSteps(box.Status.Rollout) || isInSteps(recorded.Status.Rollout) {
		box.Status.Rollout = recorded.Status.Rollout
	}
}

func isInSteps(rollout *model.ModelBoxRolloutStatus) bool {
	return rollout != nil && rollout.Step != nil
}

// addTraffic adds which pods the Service of a recorded box leads to, while its rollout is in steps.
func addTraffic(ctx context.Context, cluster *cluster, workload, record metav1.Object) error {
	box := record.(*modelv1.ModelBox)
	if box.Status.Rollout == nil {
		return nil
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	if !modelboxrender.HasRecordedTraffic(box) {
		return nil
	}
	service, err := cluster.kube.CoreV1().Services(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting the Service of box %s: %w", nameOf(box), err)
	}
	modelboxrender.SetRecordedTraffic(box, workload, service, time.Now())
	return nil
}

// newBox returns the internal box of a record, ready to be stored.
func newBox(record *modelv1.ModelBox) (*model.ModelBox, error) {
	record = record.DeepCopy()
	modelv1.SetObjectDefaults_ModelBox(record)
	box := &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(record, box, nil); err != nil {
		return nil, fmt.Errorf("converting the record of box %s/%s: %w", record.Namespace, record.Name, err)
	}
	prepareRecorded(box)
	box.Status = model.ModelBoxStatus{Rollout: box.Status.Rollout, Conditions: recoveredConditions("the box was recovered from its workload, and the controller has not seen it since")}
	return box, nil
}
