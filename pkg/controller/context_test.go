// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	gatewayfake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// fakeController ends with an error when one comes.
type fakeController struct {
	Controller
	name     string
	failures chan error
	hasEnded bool
}

func (c *fakeController) Name() string { return c.name }

func (c *fakeController) Run(ctx context.Context) error {
	defer func() { c.hasEnded = true }()
	select {
	case err := <-c.failures:
		return err
	case <-ctx.Done():
		return nil
	}
}

func newTestContext() (*Context, *modelfake.Clientset, *fake.Clientset) {
	modelClient, kubeClient := modelfake.NewSimpleClientset(), fake.NewClientset()
	definitions := map[schema.GroupVersionResource]string{networkattachment.Resource: networkattachment.Kind.Kind + "List"}
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), definitions)
	return NewContext(modelClient, kubeClient, gatewayfake.NewSimpleClientset(), dynamicClient, Configuration{
		ModelBoxController: ModelBoxControllerConfiguration{ConcurrentSyncs: 2, ResyncPeriod: time.Hour},
	}), modelClient, kubeClient
}

func TestRunEndsAllControllersWhenOneCannotWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := newTestContext()
		broken, healthy := &fakeController{name: "broken", failures: make(chan error, 1)}, &fakeController{name: "healthy"}
		failure := errors.New("no index")
		broken.failures <- failure
		err := c.Run(t.Context(), []Controller{healthy, broken})
		if !errors.Is(err, failure) || err.Error() != "controller broken: no index" {
			t.Errorf("got error %v", err)
		}
		if !healthy.hasEnded {
			t.Error("the healthy controller still runs")
		}
	})
}

func TestRunReturnsNilWhenItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := newTestContext()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		begin := time.Now()
		if err := c.Run(ctx, []Controller{&fakeController{name: "healthy"}}); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("it ended after %s", took)
		}
	})
}

// reads returns the resources that were listed and watched, sorted.
func reads(client interface{ Actions() []clienttesting.Action }) []string {
	var reads []string
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb == "list" || verb == "watch" {
			reads = append(reads, verb+" "+action.GetResource().Resource)
		}
	}
	slices.Sort(reads)
	return reads
}

func TestControllersShareTheirInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, modelClient, kubeClient := newTestContext()
		descriptor := NewDescriptors()["modelbox"]
		controllers, err := BuildControllers(c, []*Descriptor{descriptor, descriptor})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, controllers) }()
		time.Sleep(time.Second) // of the test's own time
		for _, controller := range controllers {
			if !controller.HasSynced() {
				t.Error("a controller has not synced")
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		resources := []string{"modelboxes", "pods", "ingressclasses", "horizontalpodautoscalers", "events", "events"}
		for _, kind := range childkinds.All() {
			if !kind.IsOptional {
				resources = append(resources, kind.Resource)
			}
		}
		var want []string
		for _, resource := range resources {
			want = append(want, "list "+resource, "watch "+resource)
		}
		slices.Sort(want)
		got := append(reads(modelClient), reads(kubeClient)...)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests of two controllers, -want +got:\n%s", diff)
		}
	})
}

func TestRecordedEventsReachTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, kubeClient := newTestContext()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, []Controller{&fakeController{name: "recording"}}) }()
		synctest.Wait()
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		c.Recorder.Eventf(box, nil, "Normal", "Created", "Create", "it works")
		synctest.Wait()
		events, err := kubeClient.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(events.Items) != 1 || events.Items[0].Note != "it works" || events.Items[0].ReportingController != "modelbox-apiserver" || events.Items[0].Regarding.Kind != "ModelBox" {
			t.Errorf("got events %v", events.Items)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
