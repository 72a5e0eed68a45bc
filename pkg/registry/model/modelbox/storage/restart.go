// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// RestartREST is the restart subresource: a rollout of the same spec, as that of "kubectl rollout restart". It is an update of
// the pod template of the box, so that it is not lost when nobody carries it out at once.
type RestartREST struct {
	boxes    *boxUpdater
	recorder events.EventRecorder
	clock    clock.PassiveClock
}

var _ rest.NamedCreater = &RestartREST{}

// New returns an empty ModelBoxRestart.
func (*RestartREST) New() runtime.Object { return &model.ModelBoxRestart{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*RestartREST) Destroy() {}

// Create restarts the box of the name. What cannot roll is refused with 409: a box that is paused, or being deleted, one
// whose Deployment somebody has paused, and one that was restarted in the same second.
func (r *RestartREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	restart, ok := obj.(*model.ModelBoxRestart)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a ModelBoxRestart, got %T", obj))
	}
	if restart.Name != "" && restart.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", restart.Name, name))
	}
	restart.Name, restart.Status = name, model.ModelBoxRestartStatus{}
	if createValidation != nil {
		if err := createValidation(ctx, restart.DeepCopy()); err != nil {
			return nil, err
		}
	}
	now := metav1.NewTime(r.clock.Now().UTC().Truncate(time.Second))
	box, err := r.boxes.Update(ctx, name, options, func(box *model.ModelBox) error {
		if err := setRestartedAt(box, now.Format(time.RFC3339)); err != nil {
			return apierrors.NewConflict(model.Resource("modelboxes/restart"), name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !dryrun.IsDryRun(options.DryRun) {
		recordEvent(ctx, r.recorder, box, "Restarted", "Restart", "User %q restarted the box")
	}
	return &model.ModelBoxRestart{
		ObjectMeta: answerMeta(box),
		Status:     model.ModelBoxRestartStatus{RestartedAt: now, Generation: box.Generation},
	}, nil
}

// setRestartedAt lets the box roll, or returns why it cannot.
func setRestartedAt(box *model.ModelBox, now string) error {
	progressing := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionProgressing)
	switch {
	case box.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case box.Spec.Paused:
		return errors.New("can't restart paused modelbox (set spec.paused to false first)")
	case progressing != nil && progressing.Reason == modelv1.ReasonDeploymentPaused:
		return fmt.Errorf("can't restart paused deployment (run \"kubectl rollout resume deployment/%s\" first)", box.Name)
	}
	if box.Spec.PodTemplate == nil {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
	}
	template := box.Spec.PodTemplate
	if template.Annotations[modelv1.RestartedAtAnnotation] == now {
		return errors.New("if restart has already been triggered within the past second, please wait before attempting to trigger another")
	}
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[modelv1.RestartedAtAnnotation] = now
	return nil
}
