// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// retryInterval is how soon the pods are asked for again when that failed.
const retryInterval = 5 * time.Second

// follower follows the logs of the pods of a box, those that come later included.
type follower struct {
	*stream
	pods    func(context.Context) ([]corev1.Pod, error)
	changed <-chan struct{}
	// gone and abandoned are the channels of AwaitDeletion.
	gone, abandoned <-chan struct{}
	// logs are the logs of existing pods, including logs that have ended, and running are the logs that are followed.
	logs    map[logKey]*containerLog
	running int
	ended   chan struct{}
	// hasBegun is whether what was there when the stream began is followed.
	hasBegun bool
	// waiting is whether it has been said that there are more logs than may be followed.
	waiting  bool
	reported string
}

type logKey struct {
	pod       types.UID
	container string
}

// follow returns what follows the logs until there will be no more, or ctx is done.
func (s *stream) follow(ctx context.Context) (run func(), err error) {
	changed := make(chan struct{}, 1)
	pods, err := s.WatchPods(ctx, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	gone, abandoned := make(chan struct{}), make(chan struct{})
	go s.AwaitDeletion(ctx, gone, abandoned)
	f := &follower{
		stream: s, pods: pods, changed: changed, gone: gone, abandoned: abandoned,
		logs: map[logKey]*containerLog{}, ended: make(chan struct{}, s.maxLogs()),
	}
	present := map[types.UID]bool{}
	for i := range s.Pods {
		present[s.Pods[i].UID] = true
	}
	return func() { f.run(ctx, present) }, nil
}

// run follows the logs. present are the pods that were there when the stream began.
func (f *follower) run(ctx context.Context, present map[types.UID]bool) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	start := func(log *containerLog) {
		f.running++
		running.Go(func() {
			log.follow(ctx)
			log.hasEnded.Store(true)
			f.ended <- struct{}{}
		})
	}
	gone := f.gone
	for isGone := false; ; {
		var retry <-chan time.Time
		left, err := f.sync(ctx, present, start)
		if err != nil {
			f.reportOnce(err)
			retry = time.After(retryInterval)
		} else if f.running == 0 && left == 0 && (isGone || f.Options.Pod != "") {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-f.abandoned:
			return
		case <-f.changed:
		case <-f.ended:
			f.running--
		case <-gone:
			isGone, gone = true, nil
		case <-retry:
		}
	}
}

// sync starts to follow what there is to follow, tells the logs what has become of their pods, and returns how many pods there are
// of whose logs there may be more.
func (f *follower) sync(ctx context.Context, present map[types.UID]bool, start func(*containerLog)) (left int, err error) {
	pods, err := f.pods(ctx)
	if err != nil {
		return 0, err
	}
	f.reported = ""
	there := map[types.UID]bool{}
	isWaiting := false
	for _, pod := range sorted(pods) {
		there[pod.UID] = true
		if f.Options.Pod != "" && !present[pod.UID] || f.refused.Has(pod.UID) {
			continue
		}
		for _, container := range f.containersOf(&pod) {
			key, state := logKey{pod.UID, container}, stateOf(&pod, container)
			if log, ok := f.logs[key]; ok {
				log.setState(state)
				continue
			}
			if !state.isStarted {
				continue
			}
			if f.running >= f.maxLogs() {
				isWaiting = true
				continue
			}
			if isAllowed, err := f.admit(ctx, &pod, present); err != nil {
				return left, err
			} else if !isAllowed {
				break
			}
			f.logs[key] = f.newContainerLog(&pod, container, f.hasBegun || !present[pod.UID])
			start(f.logs[key])
		}
		if !f.isComplete(&pod) {
			left++
		}
	}
	f.hasBegun = true
	f.reportWaiting(isWaiting)
	for key, log := range f.logs {
		if !there[key.pod] {
			log.setGone()
			delete(f.logs, key)
		}
	}
	f.forget(there)
	return left, nil
}

// admit returns whether the logs of the pod may be read. It is said once if they may not.
func (f *follower) admit(ctx context.Context, pod *corev1.Pod, present map[types.UID]bool) (bool, error) {
	if present[pod.UID] || f.isFollowed(pod.UID) {
		return true, nil
	}
	err := f.CheckPod(ctx, pod.Name)
	switch {
	case apierrors.IsForbidden(err):
		f.report(err)
		f.refused.Insert(pod.UID)
		return false, nil
	case err != nil:
		return false, err
	}
	f.Record(ctx, true, []string{pod.Name})
	return true, nil
}

// isComplete returns whether there will be nothing more of the logs of the pod than of those that are followed.
func (f *follower) isComplete(pod *corev1.Pod) bool {
	if f.refused.Has(pod.UID) || isTerminal(pod) {
		return true
	}
	for _, container := range f.containersOf(pod) {
		if log, ok := f.logs[logKey{pod.UID, container}]; !ok || !log.hasEnded.Load() {
			return false
		}
	}
	return true
}

func (f *follower) isFollowed(pod types.UID) bool {
	for key := range f.logs {
		if key.pod == pod {
			return true
		}
	}
	return false
}

// forget keeps in mind only pods that are there.
func (f *follower) forget(there map[types.UID]bool) {
	for pod := range f.refused {
		if !there[pod] {
			f.refused.Delete(pod)
		}
	}
}

func (f *follower) reportWaiting(isWaiting bool) {
	if isWaiting && !f.waiting {
		f.report(fmt.Errorf("maxLogRequests: %d logs are followed, which is the maximum: further logs wait until one of them ends", f.running))
	}
	f.waiting = isWaiting
}

func (f *follower) reportOnce(err error) {
	if message := err.Error(); message != f.reported {
		f.reported = message
		f.report(err)
	}
}
