// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestFieldSelectorsSelectBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("plain"))
	n.CreateBox(framework.NewBox("newer", framework.WithImage(framework.NewImage), framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.CreateBox(framework.NewBox("headless", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = modelv1.ServiceTypeHeadless }))
	n.CreateBox(framework.NewBox("waiting", framework.Pause))
	for _, box := range []string{"plain", "newer", "headless"} {
		n.AwaitReady(box)
	}
	n.AwaitPaused("waiting")

	for _, test := range []struct{ selector, want string }{
		{"metadata.name=plain", "plain"},
		{"metadata.namespace=" + n.Name, "headless newer plain waiting"},
		{"spec.image=nginx:1.8", "newer"},
		{"spec.image!=nginx:1.7.9", "newer"},
		{"spec.serviceType=Headless", "headless"},
		{"spec.serviceType=ClusterIP", "newer plain waiting"},
		{"spec.workload=StatefulSet", "newer"},
		{"spec.workload=Deployment", "headless plain waiting"},
		{"status.ready=true", "headless newer plain"},
		{"status.ready=True", "headless newer plain"},
		{"status.ready=false", "waiting"},
		{"status.ready!=True", "waiting"},
		{"status.ready=true,spec.image=nginx:1.7.9", "headless plain"},
		{"metadata.name=none-such", ""},
	} {
		t.Run(test.selector, func(t *testing.T) {
			names := n.In(t).Kubectl.Run("get", "mb", "--field-selector="+test.selector, "--output=jsonpath={.items[*].metadata.name}")
			framework.ExpectEqual(t, "boxes", test.want, names)
		})
	}
	for selector, want := range map[string]string{
		"spec.replicas=1":      `"spec.replicas" is not a known field selector`,
		"status.ready=Unknown": `"Unknown" is not a value of the field selector "status.ready"`,
	} {
		t.Run(selector+", which is none", func(t *testing.T) {
			complaint := n.In(t).Kubectl.RunFailing("", "get", "mb", "--field-selector="+selector)
			if !strings.Contains(complaint, "BadRequest") || !strings.Contains(complaint, want) {
				t.Error(complaint)
			}
		})
	}
}

func TestWatchSelectsBoxesByTheirWorkload(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	create := func(name string, workload modelv1.Workload) {
		n.CreateBox(framework.NewBox(name, framework.Pause, framework.WithWorkload(workload)))
	}
	create("before", modelv1.WorkloadStatefulSet)
	watcher, err := n.Boxes.Watch(n.Ctx, metav1.ListOptions{FieldSelector: "spec.workload=StatefulSet"})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	create("other", modelv1.WorkloadDeployment)
	create("after", modelv1.WorkloadStatefulSet)
	for _, want := range []string{"before", "after"} {
		for added := ""; added != want; {
			select {
			case event := <-watcher.ResultChan():
				box, isBox := event.Object.(*modelv1.ModelBox)
				if !isBox || box.Spec.Workload != modelv1.WorkloadStatefulSet {
					t.Fatalf("got %s of %+v", event.Type, event.Object)
				}
				if event.Type == watch.Added {
					added = box.Name
				}
			case <-time.After(framework.Patience):
				t.Fatalf("box %s is not seen", want)
			}
		}
	}
}
