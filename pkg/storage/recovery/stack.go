// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// stackKind is the kind of stacks. A stack is recorded in a ControllerRevision.
var stackKind = &kind{
	noun:              "stack",
	plural:            "stacks",
	name:              "ModelStack",
	resource:          "modelstacks",
	replacedDirectory: "replaced-stacks",
	newObject:         func() object { return &model.ModelStack{} },
	newList:           func() runtime.Object { return &model.ModelStackList{} },
	conditions:        func(stack object) []metav1.Condition { return stack.(*model.ModelStack).Status.Conditions },
	setRecorded:       func(stack, from object) { stack.(*model.ModelStack).Spec = from.(*model.ModelStack).Spec },
	isSameRecorded: func(a, b object) bool {
		return apiequality.Semantic.DeepEqual(a.(*model.ModelStack).Spec, b.(*model.ModelStack).Spec)
	},
	controlling:  modelstackrender.ControllingStack,
	validateName: validation.ValidateModelStackName,
	listRecords:  eachStackRecord,
	readRecord: func(revision metav1.Object) (metav1.Object, error) {
		return modelstackrender.ReadRecord(revision.(*appsv1.ControllerRevision))
	},
	fromRecord: func(record metav1.Object) (object, error) { return newStack(record.(*modelv1.ModelStack)) },
	recovered:  recoveredStacks,
}

// newStack returns the internal stack of a record, ready to be stored.
func newStack(record *modelv1.ModelStack) (*model.ModelStack, error) {
	record = record.DeepCopy()
	modelv1.SetObjectDefaults_ModelStack(record)
	stack := &model.ModelStack{}
	if err := modelv1.Convert_v1_ModelStack_To_model_ModelStack(record, stack, nil); err != nil {
		return nil, fmt.Errorf("converting the record of stack %s/%s: %w", record.Namespace, record.Name, err)
	}
	prepareRecorded(stack)
	stack.Status = model.ModelStackStatus{Conditions: recoveredConditions("the stack was recovered from its record, and the controller has not seen it since")}
	return stack, nil
}
