// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	rollingUpdates = 20
	servingPods    = 4
)

// noRequestIsLost: whatever is done to the pods of a box on purpose, its clients do not notice.
func noRequestIsLost(n *namespace) {
	n.createReady(newAppBox("web", withReplicas(servingPods), checkedOften))
	n.awaitAnswer("web", "/version")
	for _, test := range []struct {
		name    string
		disturb func(n *namespace)
		answers []string
	}{
		{"rolling updates", updateAgainAndAgain, []string{"1", "2"}},
		{"scaling down", scaleDown, []string{"1"}},
		{"deleted pods", deleteOneByOne, []string{"1"}},
	} {
		n.t.Run(test.name, func(t *testing.T) {
			n := n.in(t)
			traffic := startTraffic(t, n.url("web", 80)+"/version")
			test.disturb(n)
			// A pod can lose requests as long as it is there.
			n.awaitSettledPods("web", servingPods)
			traffic.expectNoneLost(n, test.answers...)
		})
	}
}

// checkedOften is ready sooner than by the default probe, so that the same time has more updates.
func checkedOften(spec *modelv1.ModelBoxSpec) {
	spec.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80)}},
		PeriodSeconds: 1,
	}
}

func updateAgainAndAgain(n *namespace) {
	for update := range rollingUpdates {
		image := newAppImage
		if update%2 == 1 {
			image = appImage
		}
		n.change("web", withImage(image))
		n.awaitReady("web")
	}
}

func scaleDown(n *namespace) {
	n.change("web", withReplicas(1))
	n.awaitSettledPods("web", 1)
	n.change("web", withReplicas(servingPods))
	n.awaitReady("web")
}

func deleteOneByOne(n *namespace) {
	pods, err := n.podsOf("web")
	if err != nil {
		n.t.Fatal(err)
	}
	for _, pod := range pods {
		if err := n.pods.Delete(n.ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			n.t.Fatal(err)
		}
		n.eventually("pod "+pod.Name+" is replaced", func() error {
			live, err := n.podsOf("web")
			if err != nil {
				return err
			}
			return areReady(live, servingPods)
		})
	}
}

// awaitSettledPods waits until the box has that many pods, all of them ready, and none that is still on its way out.
func (n *namespace) awaitSettledPods(box string, count int) {
	n.t.Helper()
	n.eventually(fmt.Sprintf("box %s has %d pods", box, count), func() error {
		pods, err := n.pods.List(n.ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
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
