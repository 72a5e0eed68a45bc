// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// gatherer reads the objects of the trees. It leaves out objects that the user may not read, and calls refused for these.
type gatherer struct {
	kube   kubernetes.Interface
	model  versioned.Interface
	events bool
	// allNamespaces reads from all namespaces at once.
	allNamespaces bool
	refused       func(error)
}

// gather reads what belongs to boxes and stacks.
func (g *gatherer) gather(ctx context.Context, objects *cliutil.Objects) (*world, error) {
	w := &world{boxes: slices.Clone(objects.Boxes)}
	stacks := scopes(g, objects.Stacks)
	for namespace, names := range stacks {
		if err := list(ctx, g, &w.boxes, labelled(modelv1.StackLabel, names), g.model.ModelV1().ModelBoxes(namespace).List); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(w.boxes, func(a, b *modelv1.ModelBox) int { return cmp.Compare(a.UID, b.UID) })
	w.boxes = slices.CompactFunc(w.boxes, func(a, b *modelv1.ModelBox) bool { return a.UID == b.UID })
	boxScopes := scopes(g, w.boxes)
	for namespace, names := range boxScopes {
		options := labelled(modelv1.SelectorLabel, names)
		if err := g.gatherChildren(ctx, w, namespace, options); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(w.boxes, func(box *modelv1.ModelBox) bool { return box.Spec.Workload.RunsToCompletion() }) {
			continue
		}
		if err := g.gatherJobs(ctx, w, namespace, options); err != nil {
			return nil, err
		}
	}
	if !g.events {
		return w, nil
	}
	for namespace := range sets.KeySet(boxScopes).Union(sets.KeySet(stacks)) {
		if err := list(ctx, g, &w.events, metav1.ListOptions{}, g.kube.CoreV1().Events(namespace).List); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// gatherChildren reads what the boxes of a namespace have become.
func (g *gatherer) gatherChildren(ctx context.Context, w *world, namespace string, options metav1.ListOptions) error {
	apps, core := g.kube.AppsV1(), g.kube.CoreV1()
	for _, read := range []func() error{
		func() error { return list(ctx, g, &w.deployments, options, apps.Deployments(namespace).List) },
		func() error { return list(ctx, g, &w.statefulSets, options, apps.StatefulSets(namespace).List) },
		func() error { return list(ctx, g, &w.daemonSets, options, apps.DaemonSets(namespace).List) },
		func() error { return list(ctx, g, &w.replicaSets, options, apps.ReplicaSets(namespace).List) },
		func() error { return list(ctx, g, &w.pods, options, core.Pods(namespace).List) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// gatherJobs reads what boxes whose pods run to completion have become.
func (g *gatherer) gatherJobs(ctx context.Context, w *world, namespace string, options metav1.ListOptions) error {
	batch := g.kube.BatchV1()
	if err := list(ctx, g, &w.cronJobs, options, batch.CronJobs(namespace).List); err != nil {
		return err
	}
	return list(ctx, g, &w.jobs, options, batch.Jobs(namespace).List)
}

// labelled selects what has a label with one of the names. Where there are several, it is all that has the label.
func labelled(label string, names []string) metav1.ListOptions {
	if len(names) == 1 {
		label += "=" + names[0]
	}
	return metav1.ListOptions{LabelSelector: label}
}

// scopes are the namespaces to read from, with the names of the objects that are there.
func scopes[O metav1.Object](g *gatherer, objects []O) map[string][]string {
	names := map[string][]string{}
	for _, object := range objects {
		namespace := object.GetNamespace()
		if g.allNamespaces {
			namespace = metav1.NamespaceAll
		}
		names[namespace] = append(names[namespace], object.GetName())
	}
	return names
}

// listable are the kinds that trees are made of.
type listable interface {
	*modelv1.ModelBox | *appsv1.Deployment | *appsv1.StatefulSet | *appsv1.DaemonSet | *appsv1.ReplicaSet | *batchv1.Job | *batchv1.CronJob |
		*corev1.Pod | *corev1.Event
}

// list adds all objects of a list, page by page.
func list[O listable, L runtime.Object](
	ctx context.Context, g *gatherer, to *[]O, options metav1.ListOptions, read func(context.Context, metav1.ListOptions) (L, error),
) error {
	page := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return read(ctx, options)
	}
	err := pager.New(page).EachListItem(ctx, options, func(object runtime.Object) error {
		item, ok := object.(O)
		if !ok {
			return fmt.Errorf("the list has a %T", object)
		}
		*to = append(*to, item)
		return nil
	})
	if apierrors.IsForbidden(err) {
		g.refused(err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing %T: %w", *new(O), err)
	}
	return nil
}
