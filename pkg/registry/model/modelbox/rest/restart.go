// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// RestartREST is the restart subresource of boxes.
type RestartREST = subresource.RestartREST[*model.ModelBox]

func newRestartREST(boxes *subresource.Updater[*model.ModelBox], recorder events.EventRecorder, clock clock.PassiveClock) *RestartREST {
	return &RestartREST{Objects: boxes, Resource: model.Resource("modelboxes/restart"), Noun: "box", Restart: restart, Recorder: recorder, Clock: clock}
}

// restart lets the box roll, or returns why it cannot: the box is paused or is being deleted, its Deployment is paused, or the box
// was restarted in the same second.
func restart(box *model.ModelBox, now string) error {
	progressing := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionProgressing)
	switch {
	case box.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case box.Spec.Paused:
		return errors.New("can't restart paused modelbox (set spec.paused to false first)")
	case progressing != nil && progressing.Reason == modelv1.ReasonDeploymentPaused:
		return fmt.Errorf("can't restart paused deployment (run \"kubectl rollout resume deployment/%s\" first)", box.Name)
	}
	return subresource.SetRestartedAt(&box.Spec, now)
}
