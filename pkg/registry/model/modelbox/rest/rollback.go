// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// RollbackREST is the rollback subresource: it gives a box the spec that it had in an earlier revision, as "kubectl rollout undo"
// does for a Deployment with its pod template.
type RollbackREST struct {
	scheme *runtime.Scheme
	// boxes changes the specs of boxes, and immediate puts their rollouts beyond their steps as well.
	boxes, immediate *subresource.Updater[*model.ModelBox]

	children    modelbox.ChildReader
	permissions permissions
	recorder    events.EventRecorder
	requests    *revisionRequests
}

var _ rest.NamedCreater = &RollbackREST{}

// New returns an empty ModelBoxRollback.
func (*RollbackREST) New() runtime.Object { return &model.ModelBoxRollback{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*RollbackREST) Destroy() {}

// Create rolls the box with the name back. The number of its pods stays, and the size of storage that has grown. It returns 409 if
// the box is paused or being deleted, has no other revision, or has the pods of the revision already, if the spec of the revision
// is not known, and if the rollback would delete storage and the request does not allow this. It returns 422 for a revision that
// does not exist.
//
// An immediate rollback needs the right to promote as well, because it leaves out the steps of a rollout and its checks.
func (r *RollbackREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	rollback, ok := obj.(*model.ModelBoxRollback)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a ModelBoxRollback, got %T", obj))
	}
	if rollback.Name != "" && rollback.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", rollback.Name, name))
	}
	rollback.Name, rollback.Status = name, model.ModelBoxRollbackStatus{}
	if err := subresource.Validate(ctx, rollback, createValidation); err != nil {
		return nil, err
	}
	boxes := r.boxes
	if rollback.Immediate {
		if err := r.permissions.checkBox(ctx, "create", name, "promote"); err != nil {
			return nil, err
		}
		boxes = r.immediate
	}
	found, err := boxes.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := canRollBack(found); err != nil {
		return nil, rollbackConflict(name, err)
	}
	number, earlier, err := r.earlierBox(ctx, found, rollback.ToRevision)
	if err != nil {
		return nil, err
	}
	claims, err := r.claimSizes(ctx, earlier)
	if err != nil {
		return nil, err
	}
	box, err := boxes.Update(ctx, name, options, func(box *model.ModelBox) error {
		if box.UID != earlier.UID {
			return rollbackConflict(name, errors.New("it was deleted and created again meanwhile"))
		}
		before := box.DeepCopy()
		if err := rollBack(ctx, box, earlier, claims, number); err != nil {
			return rollbackConflict(name, err)
		}
		if claims := modelbox.DiscardedClaims(box, before); len(claims) > 0 && !rollback.DeleteStorage {
			return rollbackConflict(name, fmt.Errorf("revision %d does not have storage whose retain is false: a rollback would delete %s and its data; "+
				"retain the storage, or set deleteStorage (kubectl modelbox rollback --delete-storage)", number, strings.Join(claims, ", ")))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !dryrun.IsDryRun(options.DryRun) {
		note := "User %q rolled the box back to revision " + strconv.FormatInt(number, 10)
		if rollback.Immediate {
			note += " immediately"
		}
		recordEvent(ctx, r.recorder, box, "RolledBack", "Rollback", note)
	}
	return &model.ModelBoxRollback{
		ObjectMeta:    subresource.AnswerMeta(box),
		ToRevision:    rollback.ToRevision,
		DeleteStorage: rollback.DeleteStorage,
		Immediate:     rollback.Immediate,
		Status:        model.ModelBoxRollbackStatus{Revision: number, Generation: box.Generation},
	}, nil
}

// earlierBox returns the box as it was in the revision, and the number of that. 0 is the newest revision whose pods are not those
// that the box asks for.
func (r *RollbackREST) earlierBox(ctx context.Context, box *model.ModelBox, number int64) (int64, *model.ModelBox, error) {
	served, err := asServed(box)
	if err != nil {
		return 0, nil, err
	}
	end, err := r.requests.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer end()
	revisions, err := readRevisions(ctx, r.children, served)
	if err != nil {
		return 0, nil, err
	}
	if number != 0 {
		revision, err := selectRevision(box.Name, revisions, number)
		if err != nil {
			return 0, nil, err
		}
		earlier, err := r.recordedBox(ctx, revision, served)
		return number, earlier, err
	}
	for i := len(revisions) - 1; i >= 0; i-- {
		earlier, err := r.recordedBox(ctx, &revisions[i], served)
		if err != nil {
			if isRenderable(ctx, box) && revisions[i].IsRenderOf(served) {
				continue
			}
			return 0, nil, err
		}
		isSame, err := haveSamePods(ctx, box, withSpecOf(box, earlier))
		if err != nil {
			return 0, nil, err
		}
		if !isSame {
			return revisions[i].Number, earlier, nil
		}
	}
	return 0, nil, rollbackConflict(box.Name, errors.New("no last revision to roll back to"))
}

// recordedBox returns the box as it was in the revision, with defaults, or a 409 that says why that is not known.
func (r *RollbackREST) recordedBox(ctx context.Context, revision *modelboxrender.Revision, box *modelv1.ModelBox) (*model.ModelBox, error) {
	recorded, err := recordedBox(ctx, revision, box)
	if err != nil {
		return nil, rollbackConflict(box.Name, fmt.Errorf("can't roll back to revision %d: its spec is not known: %w", revision.Number, err))
	}
	r.scheme.Default(recorded)
	earlier := &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(recorded, earlier, nil); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("converting revision %d of %s: %w", revision.Number, box.Name, err))
	}
	return earlier, nil
}

// selectRevision returns the revision of that number, or a 422 with the numbers that there are.
func selectRevision(name string, revisions []modelboxrender.Revision, number int64) (*modelboxrender.Revision, error) {
	var numbers []string
	for i := range revisions {
		if revisions[i].Number == number {
			return &revisions[i], nil
		}
		numbers = append(numbers, strconv.FormatInt(revisions[i].Number, 10))
	}
	return nil, apierrors.NewInvalid(model.Kind("ModelBoxRollback"), name,
		field.ErrorList{field.NotSupported(field.NewPath("toRevision"), number, numbers)})
}

// canRollBack returns why the box cannot roll back to any revision.
func canRollBack(box *model.ModelBox) error {
	switch {
	case box.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case box.Spec.Paused:
		return errors.New("cannot roll back a paused modelbox (set spec.paused to false first)")
	}
	return nil
}

// rollBack gives the box the spec of the earlier one, and what was said to be the cause of that, or returns why it cannot.
func rollBack(ctx context.Context, box, earlier *model.ModelBox, claims map[string]resource.Quantity, revision int64) error {
	if err := canRollBack(box); err != nil {
		return err
	}
	rolledBack := withSpecOf(box, earlier)
	isSame, err := haveSamePods(ctx, box, rolledBack)
	if err != nil {
		return err
	}
	if isSame {
		return fmt.Errorf("skipped rollback (current template already matches revision %d)", revision)
	}
	for _, text := range keepGrownStorage(rolledBack, box, claims) {
		warning.AddWarning(ctx, "", text)
	}
	box.Spec = rolledBack.Spec
	box.Annotations = maps.Clone(box.Annotations)
	delete(box.Annotations, modelv1.ChangeCauseAnnotation)
	if cause, isKnown := earlier.Annotations[modelv1.ChangeCauseAnnotation]; isKnown {
		metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.ChangeCauseAnnotation, cause)
	}
	return nil
}

// withSpecOf returns the box with the spec of the earlier one. The number of pods is no matter of a revision.
func withSpecOf(box, earlier *model.ModelBox) *model.ModelBox {
	rolledBack := box.DeepCopy()
	rolledBack.Spec = *earlier.Spec.DeepCopy()
	rolledBack.Spec.Replicas, rolledBack.Spec.Paused = box.Spec.Replicas, false
	modelbox.KeepReferences(rolledBack, box)
	return rolledBack
}

// claimSizes returns, by the name of the storage that the box had, the most that one of its claims requests.
func (r *RollbackREST) claimSizes(ctx context.Context, earlier *model.ModelBox) (map[string]resource.Quantity, error) {
	if len(earlier.Spec.Storage) == 0 {
		return nil, nil
	}
	served, err := asServed(earlier)
	if err != nil {
		return nil, err
	}
	return modelbox.ReadCluster(ctx, func(ctx context.Context) (map[string]resource.Quantity, error) {
		return r.children.ClaimSizes(ctx, served)
	})
}

// keepGrownStorage gives storage of the box no less than the size to which it has grown, and returns a warning for each: a volume
// cannot shrink. It has grown to what its claims request, and to no more than it asks for now: claims may be larger than asked
// for, and one whose growth was refused has not grown.
func keepGrownStorage(box, now *model.ModelBox, claims map[string]resource.Quantity) []string {
	var warnings []string
	for i := range box.Spec.Storage {
		storage := &box.Spec.Storage[i]
		j := slices.IndexFunc(now.Spec.Storage, func(other model.ModelBoxStorage) bool { return other.Name == storage.Name })
		size, hasClaims := claims[storage.Name]
		if j < 0 || !hasClaims {
			continue
		}
		if size.Cmp(now.Spec.Storage[j].RequestedSize) > 0 {
			size = now.Spec.Storage[j].RequestedSize
		}
		if storage.RequestedSize.Cmp(size) >= 0 {
			continue
		}
		size = size.DeepCopy()
		becomes := "stays %s and does not become %s"
		if size.Cmp(now.Spec.Storage[j].RequestedSize) != 0 {
			becomes = "becomes %s and not %s"
		}
		warnings = append(warnings, fmt.Sprintf("%s: "+becomes+": a volume cannot shrink",
			field.NewPath("spec", "storage").Index(i).Child("size"), size.String(), storage.RequestedSize.String()))
		storage.RequestedSize = size
	}
	return warnings
}

// haveSamePods returns whether both boxes ask for the same pod template. One that is not valid asks for none: the update refuses it.
func haveSamePods(ctx context.Context, a, b *model.ModelBox) (bool, error) {
	if !isRenderable(ctx, a) || !isRenderable(ctx, b) {
		return false, nil
	}
	templateOfA, err := boxview.PodTemplate(ctx, a)
	if err != nil {
		return false, err
	}
	templateOfB, err := boxview.PodTemplate(ctx, b)
	if err != nil {
		return false, err
	}
	return apiequality.Semantic.DeepEqual(templateOfA, templateOfB), nil
}

func rollbackConflict(name string, err error) error {
	return apierrors.NewConflict(model.Resource("modelboxes/rollback"), name, err)
}
