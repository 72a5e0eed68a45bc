// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxpods

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// foreignFor is how long a controller of pods is known not to be the box's. It may become that: a Deployment can be adopted.
const foreignFor = 30 * time.Second

// Filter tells the pods of a box from other pods of its namespace, by the rule of Reader.Pods. It remembers the controllers of pods,
// and asks the cluster only about controllers that it does not know. Several goroutines may use it.
type Filter struct {
	reader *Reader
	box    *modelv1.ModelBox

	mu sync.Mutex
	// ours are controllers of pods that belong to boxes. They stay when the controllers are deleted before their pods. foreign are
	// other controllers, with the times when they were found.
	ours    sets.Set[podController]
	foreign map[podController]time.Time
}

// NewFilter returns a filter that knows no controller. Of the box, it needs the metadata only.
func (r *Reader) NewFilter(box *modelv1.ModelBox) *Filter {
	return &Filter{reader: r, box: box, ours: sets.New[podController](), foreign: map[podController]time.Time{}}
}

// Filter returns the pods that are the box's, of pods of its namespace. It costs what Reader.Pods costs, but for the pods, and
// for each kind of workload, whenever there is a pod of a controller that is not known.
func (f *Filter) Filter(ctx context.Context, pods []*corev1.Pod) ([]*corev1.Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hasUnknown(pods) {
		if err := f.findControllers(ctx, pods); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !isControlledByOne(pod, f.ours) }), nil
}

// hasUnknown returns whether there is a pod of whose controller it is not known whose that is.
func (f *Filter) hasUnknown(pods []*corev1.Pod) bool {
	now := time.Now()
	maps.DeleteFunc(f.foreign, func(_ podController, since time.Time) bool { return now.Sub(since) > foreignFor })
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		controller, ok := podControllerOf(pod)
		_, isForeign := f.foreign[controller]
		return ok && !isForeign && !f.ours.Has(controller)
	})
}

// findControllers asks the cluster which controllers of pods are the box's. The workload may have become one of another kind.
func (f *Filter) findControllers(ctx context.Context, pods []*corev1.Pod) error {
	for _, kind := range modelv1.Workloads() {
		box := asWorkload(f.box, kind)
		workload, err := f.reader.OwnWorkload(ctx, box)
		if err != nil {
			return err
		}
		if workload == nil {
			continue
		}
		selector, err := Selector(workload)
		if err != nil {
			return err
		}
		controllers, err := f.reader.podControllers(ctx, box, workload, selector)
		if err != nil {
			return err
		}
		f.ours = f.ours.Union(controllers)
	}
	for _, pod := range pods {
		if controller, ok := podControllerOf(pod); ok && !f.ours.Has(controller) {
			f.foreign[controller] = time.Now()
		}
	}
	return nil
}

// asWorkload returns what there has to be of the box for its workload of that kind to be read.
func asWorkload(box *modelv1.ModelBox, kind modelv1.Workload) *modelv1.ModelBox {
	return &modelv1.ModelBox{ObjectMeta: box.ObjectMeta, Spec: modelv1.ModelBoxSpec{Workload: kind}}
}
