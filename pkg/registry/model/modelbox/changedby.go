// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"maps"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// noteChange records the user who changed the pods of the box. That is the requester if the box is new, for which old is nil, or if
// the update changes the pods. Otherwise it is the user of before, as it is when the controller records the hashes of references that a
// user has changed. Users cannot write that annotation themselves.
func noteChange(ctx context.Context, box, old *model.ModelBox) {
	var author string
	if old != nil && (!changesPods(&box.Spec, &old.Spec) || recordsReferences(box, old)) {
		author = old.Annotations[modelv1.ChangedByAnnotation]
	} else if user, ok := genericapirequest.UserFrom(ctx); ok {
		author = user.GetName()
	}
	switch {
	case box.Annotations[modelv1.ChangedByAnnotation] == author:
	case author == "":
		box.Annotations = maps.Clone(box.Annotations)
		delete(box.Annotations, modelv1.ChangedByAnnotation)
	default:
		box.Annotations = maps.Clone(box.Annotations)
		metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.ChangedByAnnotation, author)
	}
}

// changesPods returns whether the specs differ in a field that can become a part of the pod template.
func changesPods(spec, old *model.ModelBoxSpec) bool {
	return !apiequality.Semantic.DeepEqual(ofPods(*spec), ofPods(*old))
}

// ofPods returns the spec without the fields that never become a part of the pod template.
func ofPods(spec model.ModelBoxSpec) model.ModelBoxSpec {
	spec.Replicas, spec.Paused, spec.Job, spec.CronJob = nil, false, nil, nil
	spec.Strategy, spec.RollingUpdate, spec.MinReadySeconds = "", nil, nil
	spec.ProgressDeadlineSeconds, spec.Rollout, spec.Before, spec.After = nil, nil, nil, nil
	spec.PodManagementPolicy, spec.RevisionHistoryLimit, spec.RestartOn, spec.Resize = nil, nil, nil, nil
	spec.ServiceType, spec.Service, spec.Ingress, spec.Route, spec.GRPCRoute = "", nil, nil, nil, nil
	spec.Autoscaling, spec.DisruptionBudget, spec.NetworkPolicy, spec.IgnoreDrift = nil, nil, nil, nil
	return spec
}
