// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// RestartREST is the restart subresource: a rollout of the same spec, like "kubectl rollout restart". It is an update of the pod
// templates of the object, so that it is not lost if no controller runs at that moment.
type RestartREST[T Object] struct {
	Objects *Updater[T]
	// Resource is the subresource, and Noun is the name of the object in an event.
	Resource schema.GroupResource
	Noun     string
	// Restart lets the pods of the object roll, or returns why they cannot.
	Restart  func(object T, now string) error
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

var _ rest.NamedCreater = &RestartREST[*model.ModelBox]{}

// New returns an empty ModelBoxRestart.
func (*RestartREST[T]) New() runtime.Object { return &model.ModelBoxRestart{} }

// Destroy does nothing: the underlying store belongs to the main resource.
func (*RestartREST[T]) Destroy() {}

// Create restarts the object of the name. It refuses an object that cannot roll with 409.
func (r *RestartREST[T]) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	restart, err := Sent[*model.ModelBoxRestart]("ModelBoxRestart", name, obj)
	if err != nil {
		return nil, err
	}
	restart.Status = model.ModelBoxRestartStatus{}
	if err := Validate(ctx, restart, createValidation); err != nil {
		return nil, err
	}
	now := metav1.NewTime(r.Clock.Now().UTC().Truncate(time.Second))
	object, err := r.Objects.Update(ctx, name, options, func(object T) error {
		if err := r.Restart(object, now.Format(time.RFC3339)); err != nil {
			return apierrors.NewConflict(r.Resource, name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if served, err := r.Objects.Served(object); err == nil && !dryrun.IsDryRun(options.DryRun) {
		RecordEvent(ctx, r.Recorder, served, "Restarted", "Restart", "User %q restarted the "+r.Noun)
	}
	return &model.ModelBoxRestart{
		ObjectMeta: AnswerMeta(object),
		Status:     model.ModelBoxRestartStatus{RestartedAt: now, Generation: object.GetGeneration()},
	}, nil
}

// SetRestartedAt lets the pods of a box roll, unless they were restarted at that very time.
func SetRestartedAt(spec *model.ModelBoxSpec, now string) error {
	if spec.PodTemplate == nil {
		spec.PodTemplate = &corev1.PodTemplateSpec{}
	}
	template := spec.PodTemplate
	if template.Annotations[modelv1.RestartedAtAnnotation] == now {
		return errors.New("if restart has already been triggered within the past second, please wait before attempting to trigger another")
	}
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[modelv1.RestartedAtAnnotation] = now
	return nil
}
