// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/baseline"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	podsPerBox = 4
	// podNodes have room for the pods of more boxes than there are: 1,024 of them each.
	podNodes = 10

	// plain is the contestant without ModelBox.
	plain     = "Deployments"
	cpuPerPod = "CPU a pod"
)

var againstPlain = result.Comparison{Ours: boxes.ModelBox.Name, Peer: plain}

var podsScenario = &runner.Scenario{
	Name:  "pods",
	Shows: fmt.Sprintf("create many boxes of %d replicas at once, until all their pods are ready and each says so in its status", podsPerBox),
	Notes: []string{
		fmt.Sprintf("Pods run on %d simulated nodes, whose kubelets say at once that they are ready: what is measured is how long it takes until the last one does.", podNodes),
		"The peer are the Deployments and Services that the server has made, created by " + fmt.Sprint(fillClients) + " clients as the boxes are. Its time ends when the last Deployment says that all of its replicas are available.",
		fmt.Sprintf("They are spread over %d namespaces: the server lets none of them have more than half of its workers.", spreadOver),
		"The program that plays the kubelets does not count as a server.",
	},
	Testbed: testbed.Options{Controllers: true, Nodes: podNodes},
	Figures: []result.Figure{
		{Name: runner.Time, Unit: result.Seconds},
		{Name: cpuPerPod, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstPlain},
	Goals:       []result.Goal{atMost("", againstPlain, runner.Time, 1.05)},
	Size:        50, QuickSize: 12, FullSize: 500,
	Measure: measurePods,
}

// workload is one way to have pods.
type workload struct {
	name string
	// await watches so many workloads of some namespaces until they are ready, as await does.
	await func(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) (<-chan error, error)
	// create creates the workloads that these boxes are, or would be.
	create func(ctx context.Context, bed *testbed.Testbed, stored []*modelv1.ModelBox) error
}

func measurePods(ctx context.Context, r *runner.Run) error {
	children, err := observeChildren(ctx, r, exampleNamespace)
	if err != nil {
		return err
	}
	workloads := []workload{
		{
			name: boxes.ModelBox.Name,
			await: func(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) (<-chan error, error) {
				return awaitReady(ctx, bed, boxes.ModelBox, namespaces, want)
			},
			create: func(ctx context.Context, bed *testbed.Testbed, stored []*modelv1.ModelBox) error {
				return createBoxes(ctx, bed, boxes.ModelBox, stored)
			},
		},
		{
			name:  plain,
			await: awaitDeployments,
			create: func(ctx context.Context, bed *testbed.Testbed, stored []*modelv1.ModelBox) error {
				return baseline.Create(ctx, bed, children, stored, fillClients)
			},
		},
	}
	turn := 0
	return runner.Interleave(r, workloads, func(round int, w workload) error {
		turn++
		if err := measureWorkload(ctx, r, round, fmt.Sprintf("pods-%d", turn), w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		return nil
	})
}

func measureWorkload(ctx context.Context, r *runner.Run, round int, name string, w workload) error {
	namespaces, err := createNamespaces(ctx, r.Testbed, name)
	if err != nil {
		return err
	}
	stored := newBoxes(namespaces, r.Size)
	for _, box := range stored {
		box.Spec.Replicas = ptr.To[int32](podsPerBox)
	}
	pods := podsPerBox * len(stored)
	var took time.Duration
	cpu, err := r.CPU(ctx, func() error {
		ready, err := w.await(ctx, r.Testbed, namespaces, len(stored))
		if err != nil {
			return err
		}
		began := time.Now()
		if err := w.create(ctx, r.Testbed, stored); err != nil {
			return err
		}
		err = <-ready
		took = time.Since(began)
		return err
	})
	if err != nil {
		return err
	}
	if err := expectPods(ctx, r.Testbed, namespaces, pods); err != nil {
		return err
	}
	r.Record(result.Measurement{
		Case: atOnce, Contestant: w.name, Round: round, CPU: cpu,
		Values: map[string]float64{
			runner.Time: took.Seconds(),
			cpuPerPod:   process.Total(cpu) / float64(pods),
		},
	})
	if err := removeAll(ctx, r.Testbed, boxes.ModelBox, namespaces); err != nil {
		return err
	}
	return removePods(ctx, r.Testbed, namespaces)
}

func awaitDeployments(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) (<-chan error, error) {
	client, err := bed.UserClient()
	if err != nil {
		return nil, err
	}
	return await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return client.AppsV1().Deployments(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	}, namespaces, want, isAvailable, nil)
}

// isAvailable returns whether a Deployment has reached its end as a box that is Ready has.
func isAvailable(deployment *appsv1.Deployment) bool {
	replicas, status := *deployment.Spec.Replicas, &deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.UpdatedReplicas == replicas && status.Replicas == replicas && status.AvailableReplicas == replicas
}

// expectPods checks that the pods in a status exist.
func expectPods(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) error {
	there, ready := 0, 0
	for _, namespace := range namespaces {
		pods, err := bed.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		for i := range pods.Items {
			there++
			for _, condition := range pods.Items[i].Status.Conditions {
				if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
	}
	if there != want || ready != want {
		return fmt.Errorf("there are %d pods, of which %d are ready, want %d", there, ready, want)
	}
	return nil
}

// removePods removes pods without waiting for their nodes, and returns when they are gone.
func removePods(ctx context.Context, bed *testbed.Testbed, namespaces []string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	for _, namespace := range namespaces {
		if err := bed.Client.CoreV1().Pods(namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("deleting pods: %w", err)
		}
		err := wait.PollUntilContextTimeout(ctx, pollInterval, goneTimeout, true, func(ctx context.Context) (bool, error) {
			left, err := bed.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
			if err != nil {
				return false, fmt.Errorf("listing pods: %w", err)
			}
			return len(left.Items) == 0, nil
		})
		if err != nil {
			return fmt.Errorf("waiting until the pods are gone: %w", err)
		}
	}
	return nil
}
