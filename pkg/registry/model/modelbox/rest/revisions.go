// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// maxRevisionRequests is how many requests read revisions at a time. Users who can write ReplicaSets can make each of them
	// take some 75 MiB.
	maxRevisionRequests = 2
	// maxRevisionWait is how long a request waits for others to end.
	maxRevisionWait = 10 * time.Second
)

// revisionRequests are the requests that read revisions.
type revisionRequests struct {
	running *semaphore.Weighted
	maxWait time.Duration
}

func newRevisionRequests() *revisionRequests {
	return &revisionRequests{semaphore.NewWeighted(maxRevisionRequests), maxRevisionWait}
}

// begin waits until a request may read revisions, or returns 429. end has to be called when it has read them.
func (r *revisionRequests) begin(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, r.maxWait)
	defer cancel()
	if r.running.Acquire(ctx, 1) != nil {
		return nil, apierrors.NewTooManyRequests("the server is reading the revisions of other boxes, please try again", 1)
	}
	return func() { r.running.Release(1) }, nil
}

// readRevisions returns the revisions of the box that the cluster keeps, the oldest first.
func readRevisions(ctx context.Context, children modelbox.ChildReader, box *modelv1.ModelBox) ([]modelboxrender.Revision, error) {
	return modelbox.ReadCluster(ctx, func(ctx context.Context) ([]modelboxrender.Revision, error) { return children.Revisions(ctx, box) })
}

// recordedBox returns the box that the revision was rendered from, or an error that says why that is not known.
func recordedBox(ctx context.Context, revision *modelboxrender.Revision, box *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	return revision.RecordedBox(box, func(recorded *modelv1.ModelBox) bool { return isValidRecord(ctx, recorded) })
}

// isValidRecord returns whether the recorded box, which is defaulted, can be rendered.
func isValidRecord(ctx context.Context, recorded *modelv1.ModelBox) bool {
	internal := &model.ModelBox{}
	return modelv1.Convert_v1_ModelBox_To_model_ModelBox(recorded.DeepCopy(), internal, nil) == nil && isRenderable(ctx, internal)
}

// isRenderable returns whether the box is valid. Of a box that was recorded that is not known, and only a valid one can be
// rendered.
func isRenderable(ctx context.Context, box *model.ModelBox) bool {
	return len(validation.ValidateLimits(box)) == 0 && len(modelbox.SpecValidator{}.Validate(ctx, box, validation.ObjectPaths)) == 0
}
