// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/argorollouts"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/baseline"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// releaseWeights are the percentages of the traffic in the steps of a release.
var releaseWeights = []int32{25, 50}

// heldPods is what holds pods.
var heldPods = []corev1.PodSchedulingGate{{Name: heldGate}}

// boxReleases has boxes.
type boxReleases struct {
	bed    *testbed.Testbed
	client *modelclient.ModelV1Client
}

func newBoxReleases(bed *testbed.Testbed) (*boxReleases, error) {
	client, err := newModelClient(bed)
	if err != nil {
		return nil, err
	}
	return &boxReleases{bed, client}, nil
}

func (b *boxReleases) create(ctx context.Context, stored []*modelv1.ModelBox, of release, deadline time.Duration) error {
	for _, box := range stored {
		box.Spec.ProgressDeadlineSeconds = ptr.To(int32(deadline.Seconds()))
		box.Spec.Rollout = &modelv1.ModelBoxRollout{
			OnFailure: modelv1.RolloutFailureRollback, MaxRestarts: ptr.To[int32](maxRestarts), Type: ptr.To(modelv1.RolloutCanary),
		}
		for i, weight := range releaseWeights {
			step := modelv1.ModelBoxRolloutStep{Weight: weight, Pause: stepPause.String()}
			if of.isManual && i == len(releaseWeights)-1 {
				step.Pause = modelv1.PauseManual
			}
			box.Spec.Rollout.Steps = append(box.Spec.Rollout.Steps, step)
		}
	}
	ready, err := awaitReady(ctx, b.bed, boxes.ModelBox, namespacesOf(stored), len(stored))
	if err != nil {
		return err
	}
	if err := createBoxes(ctx, b.bed, boxes.ModelBox, stored); err != nil {
		return err
	}
	return <-ready
}

func (b *boxReleases) release(ctx context.Context, box *modelv1.ModelBox, of release) error {
	spec := map[string]any{"image": newImage}
	if of.fails {
		spec["podTemplate"] = map[string]any{"spec": map[string]any{"schedulingGates": heldPods}}
	}
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return fmt.Errorf("encoding a release: %w", err)
	}
	_, err = b.client.ModelBoxes(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

func (b *boxReleases) abort(ctx context.Context, box *modelv1.ModelBox) error {
	_, err := b.client.ModelBoxes(box.Namespace).CreateAbort(ctx, box.Name, &modelv1.ModelBoxAbort{}, metav1.CreateOptions{})
	return err
}

func (b *boxReleases) remove(ctx context.Context, namespaces []string) error {
	return removeAll(ctx, b.bed, boxes.ModelBox, namespaces)
}

// rolloutReleases has Rollouts with the pods that boxes have.
type rolloutReleases struct {
	bed            *testbed.Testbed
	client         dynamic.Interface
	children       *baseline.Children
	maxUnavailable *intstr.IntOrString
}

func newRolloutReleases(bed *testbed.Testbed, children *baseline.Children, maxUnavailable *intstr.IntOrString) (*rolloutReleases, error) {
	config := rest.CopyConfig(bed.User)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of Rollouts: %w", err)
	}
	return &rolloutReleases{bed, client, children, maxUnavailable}, nil
}

func (a *rolloutReleases) create(ctx context.Context, stored []*modelv1.ModelBox, of release, deadline time.Duration) error {
	settings := argorollouts.Settings{ProgressDeadlineSeconds: int32(deadline.Seconds()), MaxUnavailable: a.maxUnavailable}
	for i, weight := range releaseWeights {
		step := argorollouts.Step{Weight: weight, Pause: stepPause.String()}
		if of.isManual && i == len(releaseWeights)-1 {
			step.Pause = ""
		}
		settings.Steps = append(settings.Steps, step)
	}
	cluster, err := a.bed.UserClient()
	if err != nil {
		return err
	}
	healthy, err := await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return a.client.Resource(argorollouts.Resource).Watch(ctx, metav1.ListOptions{})
	}, namespacesOf(stored), len(stored), argorollouts.IsHealthy, nil)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, fillClients, len(stored), func(ctx context.Context, _, i int) error {
		deployment, service := a.children.Of(stored[i])
		rollout, err := argorollouts.New(deployment, settings)
		if err != nil {
			return err
		}
		if _, err := cluster.CoreV1().Services(service.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating a Service: %w", err)
		}
		if _, err := a.client.Resource(argorollouts.Resource).Namespace(rollout.GetNamespace()).Create(ctx, rollout, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating a Rollout: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return <-healthy
}

func (a *rolloutReleases) release(ctx context.Context, box *modelv1.ModelBox, of release) error {
	operations := []map[string]any{{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": newImage}}
	if of.fails {
		operations = append(operations, map[string]any{"op": "add", "path": "/spec/template/spec/schedulingGates", "value": heldPods})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return fmt.Errorf("encoding a release: %w", err)
	}
	_, err = a.client.Resource(argorollouts.Resource).Namespace(box.Namespace).
		Patch(ctx, box.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

func (a *rolloutReleases) abort(ctx context.Context, box *modelv1.ModelBox) error {
	_, err := a.client.Resource(argorollouts.Resource).Namespace(box.Namespace).
		Patch(ctx, box.Name, types.MergePatchType, []byte(argorollouts.AbortPatch), metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

func (a *rolloutReleases) remove(ctx context.Context, namespaces []string) error {
	for _, namespace := range namespaces {
		err := a.client.Resource(argorollouts.Resource).Namespace(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("deleting Rollouts: %w", err)
		}
	}
	return removeAll(ctx, a.bed, boxes.ModelBox, namespaces)
}
