// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	boxfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// forbid lets the cluster refuse to list the resource, as it does where a permission is missing, while allowed is false.
func (f *testController) forbid(resource string, allowed *bool) {
	f.cluster.PrependReactor("list", resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
		return !*allowed, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "", errors.New(`User "server" cannot list it`))
	})
}

// withoutErrorBackoff takes away what slows down errors by the time of the machine, which is none that a test's own time knows.
func withoutErrorBackoff(t *testing.T) {
	t.Helper()
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
}

func TestAControllerThatMayNotListGivesUpWithinAMinute(t *testing.T) {
	withoutErrorBackoff(t)
	synctest.Test(t, func(t *testing.T) {
		f := newTestController(t, fixture.WebBox(t))
		f.forbid("deployments", new(bool))
		begin := time.Now()
		err := f.Run(t.Context(), 1)
		if !errors.Is(err, ErrCacheNotSynced) {
			t.Fatalf("got error %v", err)
		}
		for _, word := range []string{"deployments.apps", "the right to list and watch", `User "server" cannot list it`} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the error says nothing of %q: %v", word, err)
			}
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("it took %s", took)
		}
		check(t, "requests to write", []string(nil), f.requestsToWrite())
	})
}

func (f *testController) requestsToWrite() []string {
	var writes []string
	for _, request := range f.requests() {
		if !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "get ") {
			writes = append(writes, request)
		}
	}
	return writes
}

func TestAControllerThatMayNotListWhatIsOptionalWorks(t *testing.T) {
	withoutErrorBackoff(t)
	synctest.Test(t, func(t *testing.T) {
		f := &testController{boxes: boxfake.NewSimpleClientset(), cluster: fake.NewClientset()}
		box := fixture.WebBox(t)
		if _, err := f.boxes.ModelV1().ModelBoxes(box.Namespace).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		allowed := new(bool)
		f.forbid("horizontalpodautoscalers", allowed)
		f.forbid("events", allowed)
		controller, err := New(t.Context(), f.boxes, f.cluster, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- controller.Run(ctx, 2) }()
		time.Sleep(2 * syncPatience) // of the test's own time
		if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{}); err != nil {
			t.Errorf("reading the Deployment: %v", err)
		}
		if err := controller.CheckHealth(); err != nil || !controller.HasSynced() {
			t.Errorf("the controller is not healthy: %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestACacheFails(t *testing.T) {
	broken, forbidden := errors.New("broken"), apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	expired := apierrors.NewResourceExpired("")
	type failure struct {
		after   time.Duration
		version string
		err     error
	}
	for _, row := range []struct {
		name     string
		failures []failure
		now      time.Duration
		version  string
		unsynced bool
		want     string
	}{
		{name: "nothing failed", now: time.Hour},
		{name: "one failure", failures: []failure{{0, "", broken}}, now: time.Minute},
		{name: "failures for a while", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: syncPatience - 1},
		{name: "failures for long", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: syncPatience, want: "cannot list or watch pods"},
		{name: "failures that still come", failures: []failure{{0, "", broken}, {time.Minute, "", broken}, {2 * time.Minute, "", broken}}, now: 3 * time.Minute, want: "cannot list or watch pods"},
		{name: "failures that no longer come", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: failurePeriod + 2*time.Second},
		{name: "a cache that has moved on", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: time.Minute, version: "42"},
		{name: "failures with successes in between", failures: []failure{{0, "", broken}, {time.Minute, "42", broken}}, now: time.Minute, version: "42"},
		{name: "lists without watches", failures: []failure{{0, "", forbidden}, {time.Minute, "42", forbidden}}, now: time.Minute, version: "42", want: "cannot list or watch pods"},
		{name: "failures since shortly after the start", failures: []failure{{time.Second, "", broken}, {2 * time.Second, "", broken}}, now: syncPatience, unsynced: true},
		{name: "a list that failed and is not answered", failures: []failure{{0, "", broken}}, now: failurePeriod + 1, unsynced: true, want: "the cache of pods has not synced for 2m0s"},
		{name: "watches that ended", failures: []failure{{0, "", io.EOF}, {time.Second, "", io.EOF}}, now: time.Minute},
		{name: "versions that are too old", failures: []failure{{0, "", expired}, {time.Second, "", expired}}, now: time.Minute},
		{name: "a list that is not answered yet", now: syncPatience - 1, unsynced: true},
		{name: "a list that is not answered", now: syncPatience, unsynced: true, want: "the cache of pods has not synced for 30s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, begin := "", time.Now()
			health := &cacheHealth{
				resource:  corev1.Resource("pods"),
				version:   func() string { return now },
				hasSynced: func() bool { return !row.unsynced },
			}
			health.started(begin)
			for _, failure := range row.failures {
				now = failure.version
				health.failed(begin.Add(failure.after), failure.err)
			}
			now = row.version
			err := health.failure(begin.Add(row.now))
			if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if isRefused := row.want != "" && !row.unsynced; errors.Is(err, ErrCacheNotSynced) != isRefused {
				t.Errorf("got %v, want ErrCacheNotSynced: %t", err, isRefused)
			}
		})
	}
}
