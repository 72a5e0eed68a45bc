// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/boxpods"
)

// syncTimeout is how long the pods may take to be listed.
const syncTimeout = 10 * time.Second

// podWatch knows the pods with the labels of a box, and which of them are controlled by its workload. It is shared by all who watch
// the pods of the box.
type podWatch struct {
	filter   *boxpods.Filter
	informer cache.SharedIndexInformer
	store    cache.Store
}

// WatchPods returns what tells the pods of the box until ctx is done, those that come and go included. changed is called, at any
// time and often, when it may tell something else than before. It costs one list and watch of the pods that the workload selects,
// or has the label of the box where there is none yet, which all who watch the pods of the box share; and what Pods costs, but for
// the pods, whenever there are pods of a controller that is not known.
func (r *Reader) WatchPods(ctx context.Context, box *modelv1.ModelBox, changed func()) (func(context.Context) ([]corev1.Pod, error), error) {
	workload, err := r.OwnWorkload(ctx, box)
	if err != nil {
		return nil, err
	}
	selector := labels.Set{modelv1.SelectorLabel: box.Name}.String()
	if workload != nil {
		if selector, err = boxpods.Selector(workload); err != nil {
			return nil, err
		}
	}
	watch, err := r.podWatches.join(ctx, podWatchKey{box.UID, selector}, func() (*podWatch, error) { return r.newPodWatch(box, selector) })
	if err != nil {
		return nil, err
	}
	handler, err := watch.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed() },
		UpdateFunc: func(any, any) { changed() },
		DeleteFunc: func(any) { changed() },
	})
	if err != nil {
		return nil, fmt.Errorf("watching the pods: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = watch.informer.RemoveEventHandler(handler) }) // an informer that has stopped has none
	syncing, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if !cache.WaitForCacheSync(syncing.Done(), watch.informer.HasSynced) {
		return nil, errors.New("listing the pods: the cluster does not answer")
	}
	return watch.pods, nil
}

// newPodWatch returns a watch of the pods that the selector selects. Its informer does not run yet.
func (r *Reader) newPodWatch(box *modelv1.ModelBox, selector string) (*podWatch, error) {
	informer := coreinformers.NewFilteredPodInformer(r.client, box.Namespace, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.LabelSelector = selector
	})
	if err := informer.SetTransform(trimPod); err != nil {
		return nil, fmt.Errorf("trimming pods: %w", err)
	}
	return &podWatch{filter: r.NewFilter(box), informer: informer, store: informer.GetStore()}, nil
}

// trimPod leaves of a pod what tells whose it is, which containers it has and how they are.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Status: corev1.PodStatus{
		Phase:                      pod.Status.Phase,
		ContainerStatuses:          pod.Status.ContainerStatuses,
		InitContainerStatuses:      pod.Status.InitContainerStatuses,
		EphemeralContainerStatuses: pod.Status.EphemeralContainerStatuses,
	}}
	trimmed.ManagedFields = nil
	for _, container := range pod.Spec.Containers {
		trimmed.Spec.Containers = append(trimmed.Spec.Containers, corev1.Container{Name: container.Name})
	}
	for _, container := range pod.Spec.InitContainers {
		trimmed.Spec.InitContainers = append(trimmed.Spec.InitContainers, corev1.Container{Name: container.Name})
	}
	for _, container := range pod.Spec.EphemeralContainers {
		trimmed.Spec.EphemeralContainers = append(trimmed.Spec.EphemeralContainers,
			corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: container.Name}})
	}
	return trimmed, nil
}

// pods returns the pods of the box. They are the cache's: they are not to be changed.
func (w *podWatch) pods(ctx context.Context) ([]corev1.Pod, error) {
	var listed []*corev1.Pod
	for _, object := range w.store.List() {
		listed = append(listed, object.(*corev1.Pod))
	}
	ours, err := w.filter.Filter(ctx, listed)
	if err != nil {
		return nil, err
	}
	var pods []corev1.Pod
	for _, pod := range ours {
		pods = append(pods, *pod)
	}
	return pods, nil
}

// PodUID returns the UID of the pod of that name, empty where there is none.
func (r *Reader) PodUID(ctx context.Context, pod types.NamespacedName) (types.UID, error) {
	// The server may list pods, and not get one.
	list, err := r.client.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name).String()})
	if err != nil {
		return "", fmt.Errorf("reading pod %s: %w", pod.Name, err)
	}
	for i := range list.Items {
		if list.Items[i].Name == pod.Name {
			return list.Items[i].UID, nil
		}
	}
	return "", nil
}

// IsOrphaned returns whether the workload that has the name of the box exists without a controller.
func (r *Reader) IsOrphaned(ctx context.Context, box *modelv1.ModelBox) (bool, error) {
	workload, err := r.Workload(ctx, box)
	if err != nil || workload == nil {
		return false, err
	}
	return metav1.GetControllerOfNoCopy(workload) == nil, nil
}
