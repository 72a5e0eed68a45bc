// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// newTestFactories returns factories for clients of nothing.
func newTestFactories() (*Factories, *modelfake.Clientset, *fake.Clientset) {
	modelClient, kubeClient := modelfake.NewSimpleClientset(), fake.NewClientset()
	unchanged := func(obj any) (any, error) { return obj, nil }
	return NewFactories(modelClient, kubeClient, time.Minute, unchanged), modelClient, kubeClient
}

// startInTest starts the factories until the test ends.
func (f *Factories) startInTest(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f.Start(ctx)
	t.Cleanup(func() {
		stop()
		f.Shutdown()
	})
}

// requests returns what was listed and watched, as "list pods fields=… labels=…".
func requests(client interface{ Actions() []clienttesting.Action }) []string {
	var requests []string
	for _, action := range client.Actions() {
		var options metav1.ListOptions
		switch action := action.(type) {
		case clienttesting.ListActionImpl:
			options = action.ListOptions
		case clienttesting.WatchActionImpl:
			options = action.ListOptions
		}
		requests = append(requests, fmt.Sprintf("%s %s fields=%s labels=%s",
			action.GetVerb(), action.GetResource().Resource, options.FieldSelector, options.LabelSelector))
	}
	slices.Sort(requests)
	return requests
}

// Each informer is asked for twice, and yet lists and watches once.
func TestFactoriesListAndWatchWhatTheySelect(t *testing.T) {
	for _, row := range []struct {
		name string
		ask  func(f *Factories) cache.SharedIndexInformer
		want string
	}{
		{name: "boxes", ask: func(f *Factories) cache.SharedIndexInformer { return f.Model.Model().V1().ModelBoxes().Informer() },
			want: "modelboxes fields= labels="},
		{name: "autoscalers", ask: func(f *Factories) cache.SharedIndexInformer {
			return f.Kube.Autoscaling().V2().HorizontalPodAutoscalers().Informer()
		}, want: "horizontalpodautoscalers fields= labels="},
		{name: "children", ask: func(f *Factories) cache.SharedIndexInformer { return f.Children.Apps().V1().Deployments().Informer() },
			want: "deployments fields= labels=app.kubernetes.io/managed-by=modelbox-apiserver"},
		{name: "pods of boxes", ask: func(f *Factories) cache.SharedIndexInformer { return f.Pods.Core().V1().Pods().Informer() },
			want: "pods fields= labels=modelbox"},
		{name: "mount failures", ask: func(f *Factories) cache.SharedIndexInformer { return f.MountFailures.Events().V1().Events().Informer() },
			want: "events fields=regarding.kind=Pod,type=Warning,reason=FailedMount labels="},
		{name: "creation failures", ask: func(f *Factories) cache.SharedIndexInformer {
			return f.CreationFailures.Events().V1().Events().Informer()
		}, want: "events fields=regarding.kind!=ReplicaSet,regarding.kind!=Job,type=Warning,reason=FailedCreate labels="},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, modelClient, kubeClient := newTestFactories()
			first, second := row.ask(f), row.ask(f)
			f.startInTest(t)
			if !cache.WaitForCacheSync(t.Context().Done(), first.HasSynced, second.HasSynced) {
				t.Fatal("the informers do not sync")
			}
			got := append(requests(modelClient), requests(kubeClient)...)
			if diff := cmp.Diff([]string{"list " + row.want, "watch " + row.want}, got); diff != "" {
				t.Errorf("requests, -want +got:\n%s", diff)
			}
		})
	}
}

func TestInformersThatNobodyAskedForAreNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, modelClient, kubeClient := newTestFactories()
		f.startInTest(t)
		time.Sleep(time.Minute) // of the test's own time
		if got := append(requests(modelClient), requests(kubeClient)...); len(got) != 0 {
			t.Errorf("got requests %q", got)
		}
	})
}

func TestBoxesAreReportedAgainAtEachResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, modelClient, _ := newTestFactories()
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		if _, err := modelClient.ModelV1().ModelBoxes(box.Namespace).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		resyncs := 0
		if _, err := f.Model.Model().V1().ModelBoxes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(any, any) { resyncs++ },
		}); err != nil {
			t.Fatal(err)
		}
		f.startInTest(t)
		time.Sleep(5*time.Minute + time.Second) // of the test's own time
		synctest.Wait()
		if resyncs != 5 {
			t.Errorf("got %d resyncs in five periods", resyncs)
		}
	})
}
