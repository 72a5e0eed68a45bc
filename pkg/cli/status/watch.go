// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubectl/pkg/util/term"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

const (
	// settle is how long changes are collected before they are shown: one rarely comes alone.
	settle = 200 * time.Millisecond
	// redrawInterval is how often a terminal is redrawn when nothing changes, for the ages.
	redrawInterval = 5 * time.Second
)

// watcher is the cluster as it is now, kept by watches.
type watcher struct {
	boxes, stacks, deployments, statefulSets, daemonSets, replicaSets, jobs, cronJobs, pods, events cache.SharedIndexInformer
	// changed has something in it when there is something new to show.
	changed chan struct{}
}

// runWatch shows the trees again whenever they change, until the context ends.
func (o *Options) runWatch(ctx context.Context, objects *cliutil.Objects) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w, err := o.startWatcher(ctx, end, len(objects.Stacks) > 0 || o.All() && o.SelectsType(cliutil.Stacks))
	if err != nil {
		return err
	}
	named := sets.New[types.UID]()
	for _, box := range objects.Boxes {
		named.Insert(box.UID)
	}
	for _, stack := range objects.Stacks {
		named.Insert(stack.UID)
	}
	s := &screen{options: o, tty: term.TTY{Out: o.Out}}
	var redraw <-chan time.Time
	if s.tty.IsTerminalOut() {
		ticker := time.NewTicker(redrawInterval)
		defer ticker.Stop()
		redraw = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return refusal(ctx)
		case <-redraw:
		case <-w.changed:
			// What follows at once is shown with it.
			select {
			case <-ctx.Done():
				return refusal(ctx)
			case <-time.After(settle):
			}
			select {
			case <-w.changed:
			default:
			}
		}
		world, selected := w.now(&o.Selection, named)
		s.show(world, world.trees(selected))
	}
}

// refusal is why the context has ended, nil where that is no error.
func refusal(ctx context.Context) error {
	if err := context.Cause(ctx); apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// startWatcher returns when the caches of boxes, and of stacks if they are wanted, have synced. The objects below them follow. It
// calls end if the user may not watch boxes or stacks. It leaves out any other kind that the user may not watch.
func (o *Options) startWatcher(ctx context.Context, end context.CancelCauseFunc, withStacks bool) (*watcher, error) {
	namespace := o.Namespace
	if o.AllNamespaces {
		namespace = metav1.NamespaceAll
	}
	model := modelinformers.NewSharedInformerFactoryWithOptions(o.gatherer.model, 0, modelinformers.WithNamespace(namespace))
	children := informers.NewSharedInformerFactoryWithOptions(o.gatherer.kube, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = modelv1.SelectorLabel }))
	others := informers.NewSharedInformerFactoryWithOptions(o.gatherer.kube, 0, informers.WithNamespace(namespace))
	w := &watcher{
		boxes:        model.Model().V1().ModelBoxes().Informer(),
		deployments:  children.Apps().V1().Deployments().Informer(),
		statefulSets: children.Apps().V1().StatefulSets().Informer(),
		daemonSets:   children.Apps().V1().DaemonSets().Informer(),
		replicaSets:  children.Apps().V1().ReplicaSets().Informer(),
		jobs:         children.Batch().V1().Jobs().Informer(),
		cronJobs:     children.Batch().V1().CronJobs().Informer(),
		pods:         children.Core().V1().Pods().Informer(),
		changed:      make(chan struct{}, 1),
	}
	roots := []cache.SharedIndexInformer{w.boxes}
	if withStacks {
		w.stacks = model.Model().V1().ModelStacks().Informer()
		roots = append(roots, w.stacks)
	}
	all := append(slices.Clone(roots), w.deployments, w.statefulSets, w.daemonSets, w.replicaSets, w.jobs, w.cronJobs, w.pods)
	if o.ShowEvents {
		w.events = others.Core().V1().Events().Informer()
		all = append(all, w.events)
	}
	notify := func() {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	for i, informer := range all {
		err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
			switch {
			case !apierrors.IsForbidden(err):
				cache.DefaultWatchErrorHandler(ctx, reflector, err)
			case i < len(roots):
				end(err)
			default:
				o.refused(err)
			}
		})
		if err != nil {
			return nil, err
		}
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { notify() },
			UpdateFunc: func(_, _ any) { notify() },
			DeleteFunc: func(any) { notify() },
		})
		if err != nil {
			return nil, err
		}
	}
	model.Start(ctx.Done())
	children.Start(ctx.Done())
	others.Start(ctx.Done())
	for _, informer := range roots {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return w, refusal(ctx)
		}
	}
	notify()
	return w, nil
}

// now is what is there now, and which of it is selected.
func (w *watcher) now(selection *cliutil.Selection, named sets.Set[types.UID]) (*world, *cliutil.Objects) {
	world := &world{
		boxes:        stored[*modelv1.ModelBox](w.boxes),
		deployments:  stored[*appsv1.Deployment](w.deployments),
		statefulSets: stored[*appsv1.StatefulSet](w.statefulSets),
		daemonSets:   stored[*appsv1.DaemonSet](w.daemonSets),
		replicaSets:  stored[*appsv1.ReplicaSet](w.replicaSets),
		jobs:         stored[*batchv1.Job](w.jobs),
		cronJobs:     stored[*batchv1.CronJob](w.cronJobs),
		pods:         stored[*corev1.Pod](w.pods),
		events:       stored[*corev1.Event](w.events),
	}
	isSelected := func(resource string, object metav1.Object) bool {
		if selection.All() {
			return selection.Selects(resource, object)
		}
		return named.Has(object.GetUID())
	}
	selected := &cliutil.Objects{}
	for _, box := range world.boxes {
		if isSelected(cliutil.Boxes, box) {
			selected.Boxes = append(selected.Boxes, box)
		}
	}
	for _, stack := range stored[*modelv1.ModelStack](w.stacks) {
		if isSelected(cliutil.Stacks, stack) {
			selected.Stacks = append(selected.Stacks, stack)
		}
	}
	return world, selected
}

// stored returns what an informer has, in order. A nil informer has nothing.
func stored[O metav1.Object](informer cache.SharedIndexInformer) []O {
	if informer == nil {
		return nil
	}
	var objects []O
	for _, object := range informer.GetStore().List() {
		objects = append(objects, object.(O))
	}
	slices.SortFunc(objects, func(a, b O) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects
}

// screen shows one state after the other: in the same place of a terminal, and otherwise those that differ, below each other.
type screen struct {
	options *Options
	tty     term.TTY
	last    string
}

func (s *screen) show(world *world, roots []*node) {
	var text bytes.Buffer
	s.options.print(&text, world, roots)
	if s.tty.IsTerminalOut() {
		fmt.Fprint(s.options.Out, frame(text.String(), s.tty.GetSize()))
		return
	}
	// Ages change always, and are no news.
	var ageless bytes.Buffer
	p := s.options.printer()
	p.now = time.Time{}
	p.printTrees(&ageless, roots)
	if ageless.String() == s.last {
		return
	}
	if s.last != "" {
		fmt.Fprintln(s.options.Out)
	}
	s.last = ageless.String()
	_, _ = text.WriteTo(s.options.Out)
}

// frame draws a text from the upper left corner of a terminal. It clears each line when it writes it, because clearing the whole
// screen would flicker. It leaves out what does not fit. A size of nil is unknown.
func frame(text string, size *term.TerminalSize) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if size != nil && size.Height > 1 && len(lines) > int(size.Height)-1 {
		room := int(size.Height) - 2
		lines = append(lines[:room:room], fmt.Sprintf("… %d more lines", len(lines)-room))
	}
	if size != nil && size.Width > 0 {
		for i, line := range lines {
			lines[i] = terminal.Cut(line, int(size.Width))
		}
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\r\n\x1b[J"
}
