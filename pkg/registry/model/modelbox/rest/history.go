// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// HistoryREST is the history subresource: what the pods of a box have been, as far as the cluster keeps it.
type HistoryREST struct {
	store    *genericregistry.Store
	children modelbox.ChildReader
	requests *revisionRequests
}

var _ rest.Getter = &HistoryREST{}

// New returns an empty ModelBoxHistory.
func (*HistoryREST) New() runtime.Object { return &model.ModelBoxHistory{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*HistoryREST) Destroy() {}

// Get returns the history of the stored box.
func (r *HistoryREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	box, err := asServed(obj.(*model.ModelBox))
	if err != nil {
		return nil, err
	}
	end, err := r.requests.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	revisions, err := readRevisions(ctx, r.children, box)
	if err != nil {
		return nil, err
	}
	history := &model.ModelBoxHistory{ObjectMeta: subresource.AnswerMeta(obj.(*model.ModelBox)), Revisions: make([]model.ModelBoxRevision, len(revisions))}
	var before *modelv1.ModelBox
	for i := range revisions {
		recorded, err := recordedBox(ctx, &revisions[i], box)
		history.Revisions[i] = newRevision(&revisions[i], recorded, err)
		history.Revisions[i].Failure = failureOf(&revisions[i], recorded, box)
		if images := recordedImages(ctx, recorded); images != nil {
			history.Revisions[i].Images = images
		}
		if before != nil && recorded != nil {
			if history.Revisions[i].Changes, err = modelbox.SpecChanges(&before.Spec, &recorded.Spec); err != nil {
				return nil, apierrors.NewInternalError(fmt.Errorf("comparing revision %d with the one before: %w", revisions[i].Number, err))
			}
		}
		before = recorded
	}
	return history, nil
}

// newRevision returns a revision of the history. recorded is the box that it was rendered from. If the box is not known, unknown is
// the reason.
func newRevision(revision *modelboxrender.Revision, recorded *modelv1.ModelBox, unknown error) model.ModelBoxRevision {
	told := model.ModelBoxRevision{
		Revision:          revision.Number,
		Name:              revision.Name,
		CreationTimestamp: revision.CreationTimestamp,
		Images:            revision.Images,
		ChangeCause:       revision.Annotations[modelv1.ChangeCauseAnnotation],
	}
	if unknown != nil {
		told.Unknown = unknown.Error()
		return told
	}
	told.Generation = recorded.Generation
	told.ChangedBy = recorded.Annotations[modelv1.ChangedByAnnotation]
	told.ChangeCause = cmp.Or(recorded.Annotations[modelv1.ChangeCauseAnnotation], told.ChangeCause)
	return told
}

// failureOf returns why the rollout of the revision has failed last, as the status of the box has it.
func failureOf(revision *modelboxrender.Revision, recorded, box *modelv1.ModelBox) string {
	if box.Status.Rollout == nil {
		return ""
	}
	for _, failed := range slices.Backward(box.Status.Rollout.FailedRevisions) {
		// Of a pod that was not created there is no name.
		if failed.Name == revision.Name || failed.Name == "" && recorded != nil && failed.Generation == recorded.Generation {
			return failed.Reason
		}
	}
	return ""
}

// recordedImages returns the images of the containers of the recorded box, which a rollback restores. The pods had other images if
// a user had changed the workload. It returns nil if the images are not known.
func recordedImages(ctx context.Context, recorded *modelv1.ModelBox) []string {
	if recorded == nil || !isValidRecord(ctx, recorded) {
		return nil
	}
	template, err := modelboxrender.PodTemplate(recorded)
	if err != nil {
		return nil
	}
	images := make([]string, len(template.Spec.Containers))
	for i := range template.Spec.Containers {
		images[i] = template.Spec.Containers[i].Image
	}
	return images
}
