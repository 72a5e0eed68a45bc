// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	applymodelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/applyconfiguration/model/v1"
)

// lifetime is the timeout for a box to become Ready and to be deleted.
const lifetime = 2 * time.Minute

// owner is the field manager of this program.
const owner = "controller-runtime"

// runControllerRuntime creates, changes and deletes a box named web with the client of controller-runtime, and prints the responses
// of the server at every step: controller-runtime <namespace> <image> <other image>.
func runControllerRuntime() error {
	if len(os.Args) != 4 {
		return errors.New("usage: controller-runtime <namespace> <image> <other image>")
	}
	config, err := newConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(modelv1.AddToScheme(scheme), autoscalingv1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	l := &life{config: config, client: c, namespace: os.Args[1], image: os.Args[2], otherImage: os.Args[3]}
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	for _, step := range []struct {
		name string
		take func(context.Context) (any, error)
	}{
		{"create", l.create},
		{"get", l.get},
		{"watch until Ready", l.watchUntilReady},
		{"list by image", l.listByImage},
		{"list by label", l.listByLabel},
		{"read from a cache", l.readFromCache},
		{"apply", l.applyWithoutForce},
		{"apply with force", l.apply},
		{"patch of the status", l.patchStatus},
		{"update of the scale", l.updateScale},
		{"delete", l.delete},
	} {
		answer, err := step.take(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%s: %v\n", step.name, answer)
	}
	return nil
}

// life is the lifecycle of one box. Its methods are the steps. Each step returns its output.
type life struct {
	config                       *rest.Config
	client                       client.WithWatch
	namespace, image, otherImage string
}

// named returns a box with only a name and a namespace.
func (l *life) named() *modelv1.ModelBox {
	return &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: l.namespace}}
}

func (l *life) create(ctx context.Context) (any, error) {
	box := l.named()
	box.Labels = map[string]string{"team": "ours"}
	box.Spec.Image = l.image
	if err := l.client.Create(ctx, box); err != nil {
		return nil, err
	}
	step, _ := box.Spec.RollingUpdate.Step()
	return step.String(), nil
}

func (l *life) get(ctx context.Context) (any, error) {
	box := l.named()
	err := l.client.Get(ctx, client.ObjectKeyFromObject(box), box)
	return box.Spec.Image, err
}

func (l *life) watchUntilReady(ctx context.Context) (any, error) {
	w, err := l.client.Watch(ctx, &modelv1.ModelBoxList{}, client.InNamespace(l.namespace), client.MatchingFields{"metadata.name": "web"})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		box, ok := event.Object.(*modelv1.ModelBox)
		if !ok {
			return nil, fmt.Errorf("event %s with %T", event.Type, event.Object)
		}
		if meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionReady) {
			return box.Status.ReadyReplicas, nil
		}
	}
	return nil, errors.New("the watch ended")
}

// listByImage counts the boxes that have each image.
func (l *life) listByImage(ctx context.Context) (any, error) {
	counts := map[string]int{}
	for _, image := range []string{l.image, l.otherImage} {
		var err error
		if counts[image], err = l.count(ctx, l.client, client.MatchingFields{"spec.image": image}); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func (l *life) listByLabel(ctx context.Context) (any, error) {
	return l.countByLabel(ctx, l.client)
}

// readFromCache reads from a cache, like a reconciler.
func (l *life) readFromCache(ctx context.Context) (answer any, err error) {
	boxes, err := cache.New(l.config, cache.Options{
		Scheme: l.client.Scheme(), Mapper: l.client.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{l.namespace: {}},
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- boxes.Start(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	if !boxes.WaitForCacheSync(ctx) { // which waits for the start, too
		return nil, errors.New("the cache did not start")
	}
	box := l.named()
	if err := boxes.Get(ctx, client.ObjectKeyFromObject(box), box); err != nil {
		return nil, err
	}
	counts, err := l.countByLabel(ctx, boxes)
	return fmt.Sprintf("%s, %v", box.Spec.Image, counts), err
}

// countByLabel counts the boxes of two teams.
func (l *life) countByLabel(ctx context.Context, reader client.Reader) (map[string]int, error) {
	counts := map[string]int{}
	for _, team := range []string{"ours", "theirs"} {
		var err error
		if counts[team], err = l.count(ctx, reader, client.MatchingLabels{"team": team}); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func (l *life) count(ctx context.Context, reader client.Reader, which client.ListOption) (int, error) {
	var boxes modelv1.ModelBoxList
	err := reader.List(ctx, &boxes, client.InNamespace(l.namespace), which)
	return len(boxes.Items), err
}

func (l *life) otherImageToApply() *applymodelv1.ModelBoxApplyConfiguration {
	return applymodelv1.ModelBox("web", l.namespace).WithSpec(applymodelv1.ModelBoxSpec().WithImage(l.otherImage))
}

func (l *life) applyWithoutForce(ctx context.Context) (any, error) {
	err := l.client.Apply(ctx, l.otherImageToApply(), client.FieldOwner(owner))
	if err == nil {
		return nil, errors.New("it was not refused")
	}
	return apierrors.ReasonForError(err), nil
}

func (l *life) apply(ctx context.Context) (any, error) {
	box := l.otherImageToApply()
	err := l.client.Apply(ctx, box, client.FieldOwner(owner), client.ForceOwnership)
	return fmt.Sprintf("%s, generation %d", *box.Spec.Image, ptr.Deref(box.Generation, 0)), err
}

// patchStatus adds a condition and changes the image, which is not of the status.
func (l *life) patchStatus(ctx context.Context) (any, error) {
	box := l.named()
	if err := l.client.Get(ctx, client.ObjectKeyFromObject(box), box); err != nil {
		return nil, err
	}
	before := box.DeepCopy()
	box.Spec.Image = l.image
	meta.SetStatusCondition(&box.Status.Conditions, metav1.Condition{Type: "Checked", Status: metav1.ConditionTrue, Reason: "Checked"})
	err := l.client.Status().Patch(ctx, box, client.MergeFrom(before))
	return fmt.Sprintf("Checked is %t, %s", meta.IsStatusConditionTrue(box.Status.Conditions, "Checked"), box.Spec.Image), err
}

func (l *life) updateScale(ctx context.Context) (any, error) {
	var before int32
	// The controller writes the status of the same box.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale := &autoscalingv1.Scale{}
		if err := l.client.SubResource("scale").Get(ctx, l.named(), scale); err != nil {
			return err
		}
		before = scale.Spec.Replicas
		scale.Spec.Replicas = 2
		return l.client.SubResource("scale").Update(ctx, l.named(), client.WithSubResourceBody(scale))
	})
	if err != nil {
		return nil, err
	}
	box := l.named()
	err = l.client.Get(ctx, client.ObjectKeyFromObject(box), box)
	return fmt.Sprintf("from %d to %d", before, ptr.Deref(box.Spec.Replicas, 0)), err
}

func (l *life) delete(ctx context.Context) (any, error) {
	if err := l.client.Delete(ctx, l.named()); err != nil {
		return nil, err
	}
	return apierrors.ReasonForError(l.client.Get(ctx, client.ObjectKeyFromObject(l.named()), l.named())), nil
}
