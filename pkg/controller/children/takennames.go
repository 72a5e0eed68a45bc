// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"maps"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxTakenNames is how many names are watched at a time. The owners that wait for other names are requeued every RecheckPeriod.
const maxTakenNames = 100

// takenNames watches the objects that have the names of children, one by one. The informers do not show objects without our label,
// and an owner is not enqueued for objects that it does not own. A watch ends when its object is gone or has changed hands, when
// its owner is gone, and when the API server ends it. In the last case, the owner is enqueued after RecheckPeriod, to look again
// and to begin another watch.
type takenNames struct {
	enqueue func(owner types.NamespacedName)

	mu      sync.Mutex
	watches map[types.NamespacedName]map[takenName]*nameWatch
	count   int
	running sync.WaitGroup
}

// nameWatch is the watch of the object that has a name.
type nameWatch struct {
	object Object
	ctx    context.Context
	end    context.CancelFunc
}

// takenName is the name of a child that an owner wants, in its namespace.
type takenName struct {
	resource schema.GroupResource
	name     string
}

func newTakenNames(enqueue func(owner types.NamespacedName)) *takenNames {
	return &takenNames{enqueue: enqueue, watches: map[types.NamespacedName]map[takenName]*nameWatch{}}
}

// watch begins to watch the live object, which has the name of a child of the owner, unless it is watched already. It returns false
// if too many names are watched.
func (t *takenNames) watch(ctx context.Context, owner types.NamespacedName, kind *Kind, live Object) bool {
	taken := takenName{kind.Resource, live.GetName()}
	watchCtx, end := context.WithCancel(ctx)
	isNew, isWatched := t.begin(owner, taken, &nameWatch{object: live, ctx: watchCtx, end: end})
	if !isNew {
		end()
		return isWatched
	}
	t.running.Go(func() {
		isFree := awaitChange(watchCtx, kind, live)
		isWanted := watchCtx.Err() == nil
		t.end(owner, taken)
		switch {
		case isFree:
			t.enqueue(owner)
		case isWanted && sleep(ctx, RecheckPeriod):
			t.enqueue(owner)
		}
	})
	return true
}

// begin returns whether to run the watch, and whether the name is watched then: another watch may exist already, or too many names
// may be watched.
func (t *takenNames) begin(owner types.NamespacedName, taken takenName, watch *nameWatch) (isNew, isWatched bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watches[owner][taken] != nil || t.count == maxTakenNames {
		return false, t.watches[owner][taken] != nil
	}
	if t.watches[owner] == nil {
		t.watches[owner] = map[takenName]*nameWatch{}
	}
	t.watches[owner][taken] = watch
	t.count++
	return true, true
}

// find returns the object that has the name, as it was when its watch began, nil if it is not watched. Its owner has not changed
// since.
func (t *takenNames) find(owner types.NamespacedName, kind *Kind, name string) Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	watch := t.watches[owner][takenName{kind.Resource, name}]
	if watch == nil || watch.ctx.Err() != nil {
		return nil
	}
	return watch.object
}

func (t *takenNames) end(owner types.NamespacedName, taken takenName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches[owner][taken].end()
	delete(t.watches[owner], taken)
	if len(t.watches[owner]) == 0 {
		delete(t.watches, owner)
	}
	t.count--
}

// forget ends the watches for an owner that no longer wants a name that is taken.
func (t *takenNames) forget(owner types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, watch := range t.watches[owner] {
		watch.end()
	}
}

// wait returns when every watch has ended, which they do with their context.
func (t *takenNames) wait() { t.running.Wait() }

// sleep returns true after that time, and false as soon as ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// awaitChange returns true as soon as the live object is gone or may belong to another owner, and false if it cannot tell.
func awaitChange(ctx context.Context, kind *Kind, live Object) bool {
	logger := klog.FromContext(ctx)
	changes, err := kind.watch(ctx, live.GetNamespace(), metav1.SingleObject(metav1.ObjectMeta{Name: live.GetName()}))
	if err != nil {
		logger.V(2).Info("Watching a name that is taken failed", "kind", kind.Name(), "err", err)
		return false
	}
	defer changes.Stop()
	defer context.AfterFunc(ctx, changes.Stop)()
	// It may have gone before the watch began.
	now, err := kind.get(ctx, live.GetNamespace(), live.GetName())
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	if hasChangedHands(live, now) {
		return true
	}
	for change := range changes.ResultChan() {
		object, ok := change.Object.(Object)
		switch {
		case !ok:
			return false // The API server says why it ends the watch.
		case object.GetName() != live.GetName():
		case change.Type == watch.Deleted, hasChangedHands(live, object):
			return true
		}
	}
	return false
}

// hasChangedHands returns whether another object has the name now, or whether the object may belong to another owner.
func hasChangedHands(before, now metav1.Object) bool {
	return before.GetUID() != now.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != now.GetDeletionTimestamp().IsZero() ||
		!apiequality.Semantic.DeepEqual(before.GetOwnerReferences(), now.GetOwnerReferences()) ||
		!apiequality.Semantic.DeepEqual(before.GetLabels(), now.GetLabels()) ||
		!apiequality.Semantic.DeepEqual(withoutRecord(before.GetAnnotations()), withoutRecord(now.GetAnnotations()))
}

// withoutRecord leaves out what an object from the cache lacks, see apply.Trim.
func withoutRecord(annotations map[string]string) map[string]string {
	rest := maps.Clone(annotations)
	delete(rest, modelv1.RecordAnnotation)
	return rest
}
