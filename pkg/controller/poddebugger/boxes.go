// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/boxpods"
)

// boxFilter tells the pods of the box with that UID.
type boxFilter struct {
	box  types.UID
	pods *boxpods.Filter
}

// boxesOf returns the names of the boxes that pods of the namespace belong to. The label of a pod says which box to ask about, and
// nothing else: any user who may create a pod may set it.
func (c *Controller) boxesOf(ctx context.Context, namespace *podCache, pods []*corev1.Pod) (map[types.UID]string, error) {
	boxes := map[types.UID]string{}
	labelled := byBoxLabel(pods)
	for _, name := range slices.Sorted(maps.Keys(labelled)) {
		box, err := c.boxLister.ModelBoxes(labelled[name][0].Namespace).Get(name)
		if apierrors.IsNotFound(err) {
			namespace.forgetBox(name)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the box %s: %w", name, err)
		}
		filter := namespace.filterOf(box, c.boxReader)
		own, err := timeout.Request(ctx, func(ctx context.Context) ([]*corev1.Pod, error) { return filter.Filter(ctx, labelled[name]) })
		if err != nil {
			return nil, fmt.Errorf("looking for the pods of the box %s: %w", name, err)
		}
		for _, pod := range own {
			boxes[pod.UID] = name
		}
	}
	return boxes, nil
}

// byBoxLabel returns the pods by the boxes that their labels name.
func byBoxLabel(pods []*corev1.Pod) map[string][]*corev1.Pod {
	labelled := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		if name := pod.Labels[modelv1.SelectorLabel]; name != "" {
			labelled[name] = append(labelled[name], pod)
		}
	}
	return labelled
}

// filterOf returns what identifies the pods of the box. Another box that is created with the same name has another filter.
func (p *podCache) filterOf(box *modelv1.ModelBox, reader *boxpods.Reader) *boxpods.Filter {
	p.mu.Lock()
	defer p.mu.Unlock()
	filter, ok := p.boxes[box.Name]
	if !ok || filter.box != box.UID {
		filter = boxFilter{box.UID, reader.NewFilter(box)}
		p.boxes[box.Name] = filter
	}
	return filter.pods
}

// forgetBox drops the filter of a box that is gone.
func (p *podCache) forgetBox(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.boxes, name)
}

// hasContainer returns whether a pod of the box has the container. It reads the pods: one that a cache has may have been replaced
// by another one of its name.
func (c *Controller) hasContainer(ctx context.Context, box *modelv1.ModelBox, container string) (bool, error) {
	pods, err := timeout.Request(ctx, func(ctx context.Context) ([]corev1.Pod, error) { return c.boxReader.Pods(ctx, box) })
	if err != nil {
		return false, fmt.Errorf("looking for the pods of the box %s: %w", box.Name, err)
	}
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && hasContainer(&pod, container)
	}), nil
}
