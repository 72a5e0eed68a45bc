// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

const boxesMetric = `# HELP modelbox_controller_boxes [ALPHA] Number of boxes by the status of the condition Ready: true, false, or unknown if they do not have it yet. Only the leader has it.
# TYPE modelbox_controller_boxes gauge
`

// expectBoxes compares with series of the boxes metric, as `{ready="true"} 1`; none for a metric that is not there.
func expectBoxes(t *testing.T, registry metrics.Gatherer, series ...string) {
	t.Helper()
	var want strings.Builder
	if len(series) > 0 {
		want.WriteString(boxesMetric)
	}
	for _, one := range series {
		fmt.Fprintf(&want, "modelbox_controller_boxes%s\n", one)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want.String()), "modelbox_controller_boxes"); err != nil {
		t.Error(err)
	}
}

func TestBoxCollectorCountsByReadiness(t *testing.T) {
	boxes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	put := func(name string, conditions ...metav1.Condition) {
		t.Helper()
		if err := boxes.Update(&modelv1.ModelBox{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Status:     modelv1.ModelBoxStatus{Conditions: conditions},
		}); err != nil {
			t.Fatal(err)
		}
	}
	f := newTestController(t, nil)
	registry := f.measure()
	expectBoxes(t, registry)

	f.Status.List = modellisters.NewModelBoxLister(boxes).List
	f.Metrics.Objects.Show(f.ListConditions)
	expectBoxes(t, registry, `{ready="false"} 0`, `{ready="true"} 0`, `{ready="unknown"} 0`)

	put("a", metav1.Condition{Type: modelv1.ConditionReady, Status: metav1.ConditionTrue})
	put("b", metav1.Condition{Type: modelv1.ConditionReady, Status: metav1.ConditionFalse})
	put("c", metav1.Condition{Type: modelv1.ConditionReady, Status: metav1.ConditionFalse})
	put("d", metav1.Condition{Type: modelv1.ConditionReady, Status: metav1.ConditionUnknown})
	put("e", metav1.Condition{Type: modelv1.ConditionAvailable, Status: metav1.ConditionTrue})
	put("f")
	expectBoxes(t, registry, `{ready="false"} 2`, `{ready="true"} 1`, `{ready="unknown"} 3`)

	put("b", metav1.Condition{Type: modelv1.ConditionReady, Status: metav1.ConditionTrue})
	expectBoxes(t, registry, `{ready="false"} 1`, `{ready="true"} 2`, `{ready="unknown"} 3`)

	f.Metrics.Objects.Hide()
	expectBoxes(t, registry)
}

func TestBoxCollectorCountsWhileTheControllerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestController(t, fixture.WebBox(t))
		f.ConcurrentSyncs = 0
		registry := f.measure()
		expectBoxes(t, registry)

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.run(ctx)
		}()
		time.Sleep(time.Second) // of the test's own time, in which informers look whether they have synced
		synctest.Wait()
		expectBoxes(t, registry, `{ready="false"} 0`, `{ready="true"} 0`, `{ready="unknown"} 1`)

		stop()
		<-ended
		expectBoxes(t, registry)
	})
}
