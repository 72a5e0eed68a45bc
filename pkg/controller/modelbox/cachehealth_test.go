// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
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
		err := f.run(t.Context())
		if !errors.Is(err, cachehealth.ErrCacheNotSynced) {
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
		f := &testController{boxes: boxfake.NewSimpleClientset(), cluster: fixture.NewCluster()}
		box := fixture.WebBox(t)
		if _, err := f.boxes.ModelV1().ModelBoxes(box.Namespace).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.forbid("events", new(bool))
		f.newController(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.run(ctx) }()
		time.Sleep(time.Minute) // of the test's own time
		if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{}); err != nil {
			t.Errorf("reading the Deployment: %v", err)
		}
		if err := f.CheckHealth(); err != nil || !f.HasSynced() {
			t.Errorf("the controller is not healthy: %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
