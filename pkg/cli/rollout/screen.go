// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubectl/pkg/util/term"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

const (
	// redrawInterval is how often the picture is drawn again for values that change without an event, such as the time until a
	// deadline.
	redrawInterval = time.Second
	// syncTimeout is how long a picture that is drawn once waits for what is in it.
	syncTimeout = 5 * time.Second
)

// screen shows rollouts as a picture in a terminal, which is drawn again whenever something has changed.
type screen struct {
	out    io.Writer
	block  terminal.Block
	size   func() *term.TerminalSize
	colour bool
	client versioned.Interface
	kube   kubernetes.Interface

	// pods and componentBoxes are by their namespaces.
	pods, componentBoxes map[string]*source
	histories            map[types.UID]*revisions
	changed              chan struct{}
	ended                func()

	lock      sync.Mutex
	order     []types.UID
	latest    map[types.UID]runtime.Object
	completed []string
}

// source is what an informer has.
type source struct {
	cache.SharedIndexInformer
	// isRefused says that the user may not watch it.
	isRefused atomic.Bool
}

// revisions are what is known of the revisions of a box.
type revisions struct {
	// state is what the box was like when it was read.
	state string
	list  []modelv1.ModelBoxRevision
}

func newScreen(out io.Writer, size func() *term.TerminalSize, client versioned.Interface, kube kubernetes.Interface) *screen {
	return &screen{
		out:            out,
		block:          terminal.Block{Out: out},
		size:           size,
		colour:         printers.AllowsColorOutput(out),
		client:         client,
		kube:           kube,
		pods:           map[string]*source{},
		componentBoxes: map[string]*source{},
		histories:      map[types.UID]*revisions{},
		changed:        make(chan struct{}, 1),
		latest:         map[types.UID]runtime.Object{},
	}
}

// start draws the objects until end is called. It draws only once, when all is known, unless it is to watch.
func (s *screen) start(ctx context.Context, objects *cliutil.Objects, watch bool) {
	ctx, cancel := context.WithCancel(ctx)
	for _, object := range objects.All() {
		s.order = append(s.order, object.GetUID())
	}
	s.startInformers(ctx, objects)
	drawing := make(chan struct{})
	go func() {
		defer close(drawing)
		if watch {
			s.run(ctx)
		}
	}()
	s.ended = func() {
		if !watch {
			s.awaitSources(ctx)
		}
		s.draw(ctx)
		cancel()
		<-drawing
		for _, line := range s.completed {
			fmt.Fprintln(s.out, line)
		}
	}
}

// startInformers watches the pods of the boxes, and the boxes of the stacks.
func (s *screen) startInformers(ctx context.Context, objects *cliutil.Objects) {
	podLabel, withStacks := modelv1.SelectorLabel, sets.New[string]()
	if len(objects.Boxes) == 1 && len(objects.Stacks) == 0 {
		podLabel += "=" + objects.Boxes[0].Name
	}
	for _, stack := range objects.Stacks {
		withStacks.Insert(stack.Namespace)
	}
	for _, object := range objects.All() {
		namespace := object.GetNamespace()
		if s.pods[namespace] != nil {
			continue
		}
		pods := informers.NewSharedInformerFactoryWithOptions(s.kube, 0, informers.WithNamespace(namespace),
			informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = podLabel }))
		s.pods[namespace] = s.startInformer(ctx, pods.Core().V1().Pods().Informer())
		if withStacks.Has(namespace) {
			model := modelinformers.NewSharedInformerFactoryWithOptions(s.client, 0, modelinformers.WithNamespace(namespace),
				modelinformers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = modelv1.StackLabel }))
			s.componentBoxes[namespace] = s.startInformer(ctx, model.Model().V1().ModelBoxes().Informer())
		}
	}
}

func (s *screen) startInformer(ctx context.Context, informer cache.SharedIndexInformer) *source {
	started := &source{SharedIndexInformer: informer}
	// Neither fails before the informer runs.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) {
			started.isRefused.Store(true)
			return
		}
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { s.notify() },
		UpdateFunc: func(_, _ any) { s.notify() },
		DeleteFunc: func(any) { s.notify() },
	})
	go informer.RunWithContext(ctx)
	return started
}

// awaitSources waits until the informers have all that the user may see.
func (s *screen) awaitSources(ctx context.Context) {
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, syncTimeout, true, func(context.Context) (bool, error) {
		for _, sources := range []map[string]*source{s.pods, s.componentBoxes} {
			for _, source := range sources {
				if !source.HasSynced() && !source.isRefused.Load() {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

func (s *screen) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *screen) run(ctx context.Context) {
	ticker := time.NewTicker(redrawInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.changed:
		}
		s.draw(ctx)
	}
}

func (s *screen) show(object runtime.Object) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.latest[object.(cliutil.Object).GetUID()] = object
	s.notify()
}

func (s *screen) complete(object runtime.Object) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.completed = append(s.completed, nameOf(object)+" successfully rolled out")
}

func (s *screen) end() { s.ended() }

// draw draws the picture.
func (s *screen) draw(ctx context.Context) {
	s.lock.Lock()
	defer s.lock.Unlock()
	d := &drawing{now: time.Now(), colour: s.colour}
	for _, uid := range s.order {
		switch object := s.latest[uid].(type) {
		case *modelv1.ModelBox:
			d.addBox("", object.Name, s.viewOf(ctx, object), true)
		case *modelv1.ModelStack:
			d.addStack(object, s.componentsOf(ctx, object))
		}
	}
	s.block.Draw(d.fit(terminal.Size(s.size())))
}

func (s *screen) componentsOf(ctx context.Context, stack *modelv1.ModelStack) map[string]*boxView {
	components := map[string]*boxView{}
	for _, object := range s.componentBoxes[stack.Namespace].GetStore().List() {
		box, ok := object.(*modelv1.ModelBox)
		if ok && box.Labels[modelv1.StackLabel] == stack.Name && metav1.IsControlledBy(box, stack) {
			components[box.Labels[modelv1.ComponentLabel]] = s.viewOf(ctx, box)
		}
	}
	return components
}

// viewOf returns a box with what is known of its rollout.
func (s *screen) viewOf(ctx context.Context, box *modelv1.ModelBox) *boxView {
	view := &boxView{box: box}
	if pods := s.pods[box.Namespace]; pods.HasSynced() {
		view.pods = []*corev1.Pod{}
		for _, object := range pods.GetStore().List() {
			if pod, ok := object.(*corev1.Pod); ok && pod.Labels[modelv1.SelectorLabel] == box.Name {
				view.pods = append(view.pods, pod)
			}
		}
	}
	view.revisions = s.revisionsOf(ctx, view)
	return view
}

// revisionsOf returns the revisions of a box. It reads them again when there may be others.
func (s *screen) revisionsOf(ctx context.Context, view *boxView) []modelv1.ModelBoxRevision {
	hashes := sets.New[string]()
	for _, pod := range view.pods {
		hashes.Insert(hashOf(pod))
	}
	box := view.box
	state := fmt.Sprint(box.Generation, box.Status.ObservedGeneration, phaseOf(box, boxState(box)), strings.Join(sets.List(hashes), " "))
	known := s.histories[box.UID]
	if known != nil && known.state == state {
		return known.list
	}
	read, err := s.client.ModelV1().ModelBoxes(box.Namespace).GetHistory(ctx, box.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		known = &revisions{state: state, list: read.Revisions}
	case known == nil:
		known = &revisions{state: state} // The user may not read it.
	}
	s.histories[box.UID] = known
	return known.list
}
