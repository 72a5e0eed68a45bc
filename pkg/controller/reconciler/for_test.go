// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
)

var (
	lanKey          = types.NamespacedName{Namespace: "shop", Name: "lan"}
	networkResource = modelv1.Resource("networks")
)

// testFor reconciles one network, which may be nil, and takes note of what it calls.
type testFor struct {
	*For[*modelv1.Network, modelv1.NetworkStatus]
	network *modelv1.Network
	cache   *networkCache
	clock   *testingclock.FakePassiveClock
	calls   []string
	// written are the written statuses and finalizers, and writeError is the answer in their place.
	written    []modelv1.NetworkStatus
	patches    []string
	writeError error
	events     chan string
}

// networkCache has the version that the cache of networks has come to.
type networkCache struct{ version string }

func (c *networkCache) LastStoreSyncResourceVersion() string { return c.version }

func newTestFor(network *modelv1.Network) *testFor {
	recorder := events.NewFakeRecorder(10)
	f := &testFor{network: network, cache: &networkCache{"10"}, clock: testingclock.NewFakePassiveClock(time.Now()), events: recorder.Events}
	call := func(name string) func(context.Context, *modelv1.Network) (time.Duration, error) {
		return func(context.Context, *modelv1.Network) (time.Duration, error) {
			f.calls = append(f.calls, name)
			return time.Hour, nil
		}
	}
	f.For = New(Config[*modelv1.Network, modelv1.NetworkStatus]{
		Controller:      "network",
		Noun:            "network",
		Resource:        networkResource,
		ConcurrentSyncs: 1,
		CacheHealth:     cachehealth.NewMonitor(),
		Consistency:     consistency.NewStore(f.clock, map[schema.GroupResource]consistency.LastSyncRVGetter{networkResource: f.cache}),
		Metrics:         NewMetrics("network", "network", "networks"),
		Recorder:        recorder,
		Clock:           f.clock,
		Get: func(_, name string) (*modelv1.Network, error) {
			if f.network == nil {
				return nil, apierrors.NewNotFound(networkResource, name)
			}
			return f.network, nil
		},
		Client: func(string) Client[*modelv1.Network] { return f },
		Status: &Status[*modelv1.Network, modelv1.NetworkStatus]{
			Of: func(network *modelv1.Network) *modelv1.NetworkStatus { return &network.Status },
			Parts: func(status *modelv1.NetworkStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: func(before, after *modelv1.NetworkStatus) bool { return before.UsedAddresses != after.UsedAddresses },
			Written:        func(*modelv1.Network, *modelv1.NetworkStatus) { f.calls = append(f.calls, "Written") },
			NotReadyReason: modelv1.ReasonNotApplied,
		},
		Reconcile:         call("Reconcile"),
		ReconcileDeletion: call("ReconcileDeletion"),
		ObserveDeletion: func(context.Context, types.NamespacedName) error {
			f.calls = append(f.calls, "ObserveDeletion")
			return nil
		},
		ForgetChildren: func(types.NamespacedName) { f.calls = append(f.calls, "ForgetChildren") },
	})
	return f
}

// UpdateStatus implements Client.
func (f *testFor) UpdateStatus(_ context.Context, network *modelv1.Network, _ metav1.UpdateOptions) (*modelv1.Network, error) {
	if f.writeError != nil {
		return nil, f.writeError
	}
	f.written = append(f.written, network.Status)
	network.ResourceVersion = "11"
	return network, nil
}

// Patch implements Client.
func (f *testFor) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*modelv1.Network, error) {
	if f.writeError != nil {
		return nil, f.writeError
	}
	f.patches = append(f.patches, string(data))
	return &modelv1.Network{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "11"}}, nil
}

func newNetwork() *modelv1.Network {
	return &modelv1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: lanKey.Namespace, Name: lanKey.Name, UID: "lan-1", Generation: 3, ResourceVersion: "10"}}
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, -want +got:\n%s", what, diff)
	}
}

func TestReconcileKey(t *testing.T) {
	deleted := newNetwork()
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	for _, row := range []struct {
		name    string
		network *modelv1.Network
		prepare func(f *testFor)
		want    []string
		after   time.Duration
	}{
		{"an object", newNetwork(), func(*testFor) {}, []string{"Reconcile"}, time.Hour},
		{"an object whose write no cache shows yet", newNetwork(), func(f *testFor) { f.Consistency.WroteAt(lanKey, "lan-1", networkResource, "11") },
			nil, StaleCacheRetry},
		{"an object whose write the cache shows when the object has been read", newNetwork(), func(f *testFor) {
			f.Consistency.WroteAt(lanKey, "lan-1", networkResource, "11")
			f.Get = func(_, _ string) (*modelv1.Network, error) {
				f.cache.version = "11"
				return f.network, nil
			}
		}, nil, StaleCacheRetry},
		{"an object that is being deleted", deleted, func(*testFor) {}, []string{"ForgetChildren", "ReconcileDeletion"}, time.Hour},
		{"an object that is being deleted and whose write no cache shows yet", deleted,
			func(f *testFor) { f.Consistency.WroteAt(lanKey, "lan-1", networkResource, "11") }, nil, StaleCacheRetry},
		{"an object that is being deleted and left to the garbage collector", deleted, func(f *testFor) {
			f.ReconcileDeletion = nil
			f.Consistency.WroteAt(lanKey, "lan-1", networkResource, "11")
		}, []string{"ForgetChildren"}, 0},
		{"an object that is gone", nil, func(*testFor) {}, []string{"ForgetChildren", "ObserveDeletion"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestFor(row.network)
			row.prepare(f)
			after, err := f.ReconcileKey(t.Context(), lanKey)
			check(t, "error", nil, err)
			check(t, "requeue after", row.after, after)
			check(t, "calls", row.want, f.calls)
		})
	}
}

func TestAnObjectThatIsGoneIsForgotten(t *testing.T) {
	f := newTestFor(newNetwork())
	memory := NewMemory[string]()
	f.Memories = []Forgetter{memory}
	memory.Set(lanKey, "seen")
	f.For.UpdateStatus(t.Context(), f.network, modelv1.NetworkStatus{ObservedGeneration: 3})
	f.For.UpdateStatus(t.Context(), f.network, modelv1.NetworkStatus{UsedAddresses: 1})

	f.network = nil
	if _, err := f.ReconcileKey(t.Context(), lanKey); err != nil {
		t.Fatal(err)
	}
	_, isKnown := memory.Get(lanKey)
	check(t, "is the value of the memory known", false, isKnown)
	check(t, "delay of progress", time.Duration(0), f.Pace.ProgressDelay(lanKey))
	check(t, "last status", &modelv1.NetworkStatus{}, f.LastStatus(newNetwork()))
	check(t, "writes that are waited for", nil, f.Consistency.EnsureReady(lanKey))
}

func TestUpdateStatus(t *testing.T) {
	f := newTestFor(newNetwork())
	update := func(status modelv1.NetworkStatus) time.Duration {
		t.Helper()
		delay, err := f.For.UpdateStatus(t.Context(), f.network, status)
		if err != nil {
			t.Fatal(err)
		}
		return delay
	}
	check(t, "delay of the present status", time.Duration(0), update(modelv1.NetworkStatus{}))
	check(t, "calls", []string(nil), f.calls)

	written := modelv1.NetworkStatus{ObservedGeneration: 3}
	check(t, "delay of another status", time.Duration(0), update(written))
	check(t, "calls", []string{"Written"}, f.calls)
	check(t, "written statuses", []modelv1.NetworkStatus{written}, f.written)
	if f.Consistency.EnsureReady(lanKey) == nil {
		t.Error("the write is not waited for")
	}

	f.clock.SetTime(f.clock.Now().Add(ProgressPeriod / 2))
	progress := modelv1.NetworkStatus{UsedAddresses: 1}
	check(t, "delay of progress", ProgressPeriod/2, update(progress))
	check(t, "last status while it is put off", &progress, f.LastStatus(f.network))
	another := newNetwork()
	another.UID = "lan-2"
	check(t, "last status of another object of the name", &modelv1.NetworkStatus{}, f.LastStatus(another))

	f.clock.SetTime(f.clock.Now().Add(ProgressPeriod / 2))
	check(t, "delay after the period", time.Duration(0), update(progress))
	check(t, "written statuses", []modelv1.NetworkStatus{written, progress}, f.written)
	check(t, "last status when it is written", &modelv1.NetworkStatus{}, f.LastStatus(f.network))
}

func TestUpdateStatusOfAnObjectThatIsGone(t *testing.T) {
	f := newTestFor(newNetwork())
	f.writeError = apierrors.NewNotFound(networkResource, lanKey.Name)
	if _, err := f.For.UpdateStatus(t.Context(), f.network, modelv1.NetworkStatus{ObservedGeneration: 3}); !errors.Is(err, children.ErrOwnerChanged) {
		t.Errorf("got error %v, want %v", err, children.ErrOwnerChanged)
	}
	check(t, "calls", []string(nil), f.calls)
}

func TestSetFinalizers(t *testing.T) {
	f := newTestFor(newNetwork())
	if err := f.SetFinalizers(t.Context(), f.network, []string{"example.com/a"}); err != nil {
		t.Fatal(err)
	}
	check(t, "patches", []string{`{"metadata":{"finalizers":["example.com/a"],"resourceVersion":"10","uid":"lan-1"}}`}, f.patches)
	if f.Consistency.EnsureReady(lanKey) == nil {
		t.Error("the write is not waited for")
	}
	f.writeError = apierrors.NewNotFound(networkResource, lanKey.Name)
	check(t, "error for an object that is gone", nil, f.SetFinalizers(t.Context(), f.network, nil))
}

func TestPanicIsReported(t *testing.T) {
	f := newTestFor(newNetwork())
	f.network.Status = modelv1.NetworkStatus{UsedAddresses: 7, Boxes: []string{"web"}}
	f.Reconcile = func(context.Context, *modelv1.Network) (time.Duration, error) { panic("injected") }
	_, err := f.ReconcileSafely(t.Context(), lanKey)
	var panicked *PanicError
	if !errors.As(err, &panicked) {
		t.Fatalf("got error %v, want the panic", err)
	}
	check(t, "event", corev1.EventTypeWarning+" Error "+panicked.Error(), <-f.events)
	if len(f.written) != 1 {
		t.Fatalf("got %d writes of the status, want 1", len(f.written))
	}
	status := f.written[0]
	check(t, "observed generation", int64(3), status.ObservedGeneration)
	check(t, "what was observed before", []string{"web"}, status.Boxes)
	var conditions []string
	for _, condition := range status.Conditions {
		conditions = append(conditions, condition.Type+" "+string(condition.Status)+" "+condition.Reason+": "+condition.Message)
	}
	check(t, "conditions", []string{"Applied False Error: " + panicked.Error(), "Ready False NotApplied: " + panicked.Error()}, conditions)
}

// A Service has no status to write: the controller of its Ingress records an event, once.
func TestPanicOfAnObjectWithoutAStatus(t *testing.T) {
	f := newTestFor(newNetwork())
	f.Reconcile = func(context.Context, *modelv1.Network) (time.Duration, error) { panic("injected") }
	f.Status = nil
	f.RecordPanic = func(*modelv1.Network, *PanicError) { f.calls = append(f.calls, "RecordPanic") }
	if _, err := f.ReconcileSafely(t.Context(), lanKey); err == nil {
		t.Error("got no error: the object would not be tried again")
	}
	check(t, "calls", []string{"RecordPanic"}, f.calls)
	check(t, "events", 0, len(f.events))
}
