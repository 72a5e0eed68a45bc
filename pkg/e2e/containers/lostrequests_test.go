// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	rollingUpdates = 20
	servingPods    = 4
)

// noRequestIsLost checks that no request fails during intended changes of the pods of a box.
func noRequestIsLost(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web", framework.WithReplicas(servingPods), checkedOften))
	awaitAnswer(n, "web", "/version")
	for _, test := range []struct {
		name    string
		disturb func(n *framework.Namespace)
		answers []string
	}{
		{"rolling updates", updateTimes(rollingUpdates), []string{"1", "2"}},
		{"scaling down", scaleDown, []string{"1"}},
		{"deleted pods", deleteOneByOne("web"), []string{"1"}},
	} {
		n.T.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			traffic := startTraffic(t, &http.Transport{}, nodePortURL(n, "web", 80)+"/version")
			test.disturb(n)
			// A pod can lose requests as long as it exists.
			awaitSettledPods(n, "web", servingPods)
			traffic.expectNoneLost(n, test.answers...)
		})
	}
}

// checkedOften sets a readiness probe with a short period, so that more updates fit into the time.
func checkedOften(spec *modelv1.ModelBoxSpec) {
	spec.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80)}},
		PeriodSeconds: 1,
	}
}

// updateTimes updates box "web" between two specs a number of times. An even number restores its spec.
func updateTimes(count int) func(n *framework.Namespace) {
	return func(n *framework.Namespace) {
		for update := range count {
			image := newAppImage
			if update%2 == 1 {
				image = appImage
			}
			n.UpdateBox("web", framework.WithImage(image))
			n.AwaitReady("web")
		}
	}
}

func scaleDown(n *framework.Namespace) {
	n.UpdateBox("web", framework.WithReplicas(1))
	awaitSettledPods(n, "web", 1)
	n.UpdateBox("web", framework.WithReplicas(servingPods))
	n.AwaitReady("web")
}

// deleteOneByOne deletes the pods of a box. Each is deleted when the former one is replaced.
func deleteOneByOne(box string) func(n *framework.Namespace) {
	return func(n *framework.Namespace) {
		pods, err := n.LivePods(box)
		if err != nil {
			n.T.Fatal(err)
		}
		for _, pod := range pods {
			if err := n.Pods.Delete(n.Ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
				n.T.Fatal(err)
			}
			n.Eventually("pod "+pod.Name+" is replaced", func() error {
				live, err := n.LivePods(box)
				if err != nil {
					return err
				}
				return areReady(live, servingPods)
			})
		}
	}
}

// awaitSettledPods waits until the box has the number of pods, all of them ready, and no pods that are being deleted.
func awaitSettledPods(n *framework.Namespace, box string, count int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("box %s has %d pods", box, count), func() error {
		pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
		if err != nil {
			return err
		}
		return areReady(pods.Items, count)
	})
}

func areReady(pods []corev1.Pod, count int) error {
	if len(pods) != count {
		return fmt.Errorf("it has %d", len(pods))
	}
	for _, pod := range pods {
		ready := false
		for _, condition := range pod.Status.Conditions {
			ready = ready || condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
		}
		if !ready {
			return errors.New(pod.Name + " is not ready")
		}
	}
	return nil
}
