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

// noteChange writes down whose change the pods of the box are: that of the requester where it is a new box, of which old is
// nil, or where the pods are made from something else now, and else whose it was. Nobody else can write that.
func noteChange(ctx context.Context, box, old *model.ModelBox) {
	var author string
	if old != nil && !changesPods(&box.Spec, &old.Spec) {
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

// changesPods returns whether the specs differ in what pods can be made from, which is all but the fields that no pod template
// has anything of.
func changesPods(spec, old *model.ModelBoxSpec) bool {
	return !apiequality.Semantic.DeepEqual(ofPods(*spec), ofPods(*old))
}

// ofPods returns the spec without what no pod template has anything of.
func ofPods(spec model.ModelBoxSpec) model.ModelBoxSpec {
	spec.Replicas, spec.Paused = nil, false
	spec.Strategy, spec.RollingUpdate, spec.MinReadySeconds = "", nil, nil
	spec.ProgressDeadlineSeconds, spec.Rollout = nil, nil
	spec.ServiceType, spec.Service, spec.Ingress, spec.Route = "", nil, nil, nil
	spec.Autoscaling, spec.DisruptionBudget, spec.IgnoreDrift = nil, nil, nil
	return spec
}
