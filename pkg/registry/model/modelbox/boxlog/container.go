// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// checkInterval is how often the log of a deleted pod is checked, and silence is how long it may send nothing. The node may be
	// down, and the connection then ends only when the kernel closes it.
	checkInterval = 10 * time.Second
	silence       = 30 * time.Second
	// maxSilentReads is how often a log of a container that has ended is read again that brings nothing at all.
	maxSilentReads = 2
)

// containerLog is the log of a container of one pod, through all its instances.
type containerLog struct {
	*stream
	*lineWriter
	pod       types.NamespacedName
	uid       types.UID
	container string
	// isLater is whether the pod came after the stream had begun. isReplaced is whether another pod may get its name.
	isLater, isReplaced bool

	// openedAt is when the log was open for the first time, zero before.
	openedAt time.Time
	// hasEnded is whether it is followed no more.
	hasEnded atomic.Bool
	// reported is what has been said to be wrong since the log could be read.
	reported string
	// waitingSince is since when nothing has come, in nanoseconds since 1970, and 0 when it is not waited for anything.
	waitingSince atomic.Int64

	mu    sync.Mutex
	state containerState
	// changed is closed when the state changes, and gone is closed when the pod no longer exists.
	changed, gone chan struct{}
	isGone        bool
}

func (s *stream) newContainerLog(pod *corev1.Pod, container string, isLater bool) *containerLog {
	controller := metav1.GetControllerOfNoCopy(pod)
	return &containerLog{
		stream: s, lineWriter: s.newWriter(s.out, pod.Name, container),
		pod: nameOf(pod), uid: pod.UID, container: container,
		isLater: isLater, isReplaced: controller != nil && controller.Kind == "StatefulSet",
		state: stateOf(pod, container), changed: make(chan struct{}), gone: make(chan struct{}),
	}
}

// setState says what the status of the pod says of the container.
func (l *containerLog) setState(state containerState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state != l.state {
		l.state = state
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// setGone records that the pod no longer exists.
func (l *containerLog) setGone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isGone {
		l.isGone = true
		close(l.gone)
	}
}

// follow delivers the log until the pod is gone, or has ended and all of its lines are delivered.
//
// The end of a connection does not mean the end of the log. Kubelets end connections after some hours, and an API server ends its
// connection without an error if the connection to the kubelet breaks. A log is complete only if it was opened after its container
// had ended, and returned the last line and nothing new, or nothing at all several times.
func (l *containerLog) follow(ctx context.Context) {
	backoff := newBackoff()
	var complete containerState
	silentReads := 0
	for ctx.Err() == nil {
		l.mu.Lock()
		state, changed, isGone := l.state, l.changed, l.isGone
		l.mu.Unlock()
		if isGone || state.isLast && (!state.isStarted || state == complete) {
			return
		}
		if !state.isStarted || state == complete {
			l.await(ctx, changed, nil)
			continue
		}
		end := endOfConnection
		if state.isEnded {
			end = endOnceMore
		}
		isNew, err := l.readOn(ctx, end)
		switch {
		case ctx.Err() != nil || isEnd(err) || errors.Is(err, errReplaced):
			return
		case apierrors.IsForbidden(err):
			l.report(err)
			return
		case err != nil:
			if !apierrors.IsNotFound(err) && !errors.Is(err, errBroken) {
				l.reportOnce(err)
			}
		case state.isEnded && (isNew || l.sawLast || silentReads == maxSilentReads):
			if !isNew {
				complete = state
			}
			silentReads = 0
			continue
		case state.isEnded:
			silentReads++
		}
		if isNew {
			backoff = newBackoff()
			l.reported = ""
		}
		retry := time.NewTimer(backoff.Step())
		l.await(ctx, changed, retry.C)
		retry.Stop()
	}
}

func newBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 30, Cap: 10 * time.Second}
}

// await returns when something happens.
func (l *containerLog) await(ctx context.Context, changed <-chan struct{}, retry <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-l.gone:
	case <-changed:
	case <-retry:
	}
}

func (l *containerLog) reportOnce(err error) {
	if message := err.Error(); message != l.reported {
		l.reported = message
		l.report(inLog(err, l.pod.Name, l.container))
	}
}

// errBroken means that the connection to the log of an earlier instance broke. The lines of a later instance come after its lines.
var errBroken = errors.New("the connection is broken")

// errReplaced says that another pod has the name.
var errReplaced = errors.New("another pod has the name")

// readOn delivers what is new in the log until its connection ends. It returns whether there was, or may be, anything.
func (l *containerLog) readOn(ctx context.Context, end logEnd) (isNew bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go l.endWhenSilent(ctx, cancel)
	if err := l.CheckPod(ctx, l.pod.Name); err != nil {
		return false, err
	}
	isResumed := !l.openedAt.IsZero()
	l.sawLast = false
	if isResumed {
		if isNew, err = l.readPrevious(ctx); err != nil {
			return isNew, err
		}
	}
	log, err := l.open(ctx, l.options())
	if err != nil {
		return isNew, err
	}
	defer log.Close()
	if l.isReplaced {
		if uid, err := l.PodUID(ctx, l.pod); err != nil {
			return isNew, err
		} else if uid != l.uid {
			return isNew, errReplaced
		}
	}
	if isResumed {
		// The instance that was read before may have been the current one up to now.
		isNewBefore, err := l.readPrevious(ctx)
		if isNew = isNew || isNewBefore; err != nil {
			return isNew, err
		}
	} else {
		l.openedAt = time.Now()
	}
	isNewNow, _, err := l.deliver(log, isResumed, end)
	return isNew || isNewNow, err
}

// readPrevious delivers what is new in the log of the instance before the current one. It is no error where there is none.
func (l *containerLog) readPrevious(ctx context.Context) (isNew bool, err error) {
	options := l.options()
	options.Previous, options.Follow = true, false
	if options.SinceTime == nil {
		options.TailLines, options.SinceSeconds = nil, new(l.secondsOpen())
	}
	log, err := l.open(ctx, options)
	if apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer log.Close()
	isNew, isBroken, err := l.deliver(log, true, endOnceMore)
	if err == nil && isBroken {
		err = errBroken
	}
	return isNew, err
}

// deliver delivers what is new in an open log. That its connection breaks is no error: it is resumed.
func (l *containerLog) deliver(log io.Reader, isResumed bool, end logEnd) (isNew, isBroken bool, err error) {
	watched := &watchedReader{Reader: log, waitingSince: &l.waitingSince}
	isNew, err = l.copy(watched, isResumed, end)
	if watched.err != nil && !isEnd(err) {
		return true, true, nil
	}
	return isNew, false, err
}

// open opens the log, which may take until there is a line.
func (l *containerLog) open(ctx context.Context, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	l.waitingSince.Store(time.Now().UnixNano())
	defer l.waitingSince.Store(0)
	return l.Open(ctx, l.pod, options)
}

// options returns the options of the next request for the log.
func (l *containerLog) options() *corev1.PodLogOptions {
	options := l.podLogOptions(l.container, l.isLater, time.Since(l.began))
	if resumeAt, ok := l.position.resumeAt(); ok {
		options.SinceTime, options.SinceSeconds, options.TailLines = &metav1.Time{Time: resumeAt}, nil, nil
	} else if options.TailLines != nil && *options.TailLines == 0 && !l.openedAt.IsZero() {
		// Nothing that was there was asked for, and nothing has come: by the clock of its node, it is what came since then.
		options.TailLines, options.SinceTime, options.SinceSeconds = nil, nil, new(l.secondsOpen())
	}
	return options
}

// secondsOpen returns for how long the log has been followed, rounded up.
func (l *containerLog) secondsOpen() int64 {
	return int64(time.Since(l.openedAt)/time.Second) + 1
}

// watchedReader tells for how long it has been waited for, and whether it has failed.
type watchedReader struct {
	io.Reader
	waitingSince *atomic.Int64
	err          error
}

func (r *watchedReader) Read(into []byte) (int, error) {
	r.waitingSince.Store(time.Now().UnixNano())
	defer r.waitingSince.Store(0)
	n, err := r.Reader.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// endWhenSilent calls end when the pod is gone, and its log has been silent for long.
func (l *containerLog) endWhenSilent(ctx context.Context, end func()) {
	select {
	case <-l.gone:
	case <-ctx.Done():
		return
	}
	wait.UntilWithContext(ctx, func(context.Context) {
		if since := l.waitingSince.Load(); since != 0 && time.Since(time.Unix(0, since)) > silence {
			end()
		}
	}, checkInterval)
}
