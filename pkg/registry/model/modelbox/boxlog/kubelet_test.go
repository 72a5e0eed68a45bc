// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// kubelet has the logs of containers, as many instances of each as there were. It breaks connections as it likes.
type kubelet struct {
	mu   sync.Mutex
	pods map[string]*loggingPod
	// breaks is in how many lines three of four connections break at the latest, never for 0. While the
	// container runs, every other one seems to end; otherwise it is in the middle of a line.
	breaks int
	random *rand.Rand
	// opened counts connections, and open those that there are.
	opened, open int
}

// loggingPod is a pod with one container.
type loggingPod struct {
	instances [][]logLine
	isEnded   bool
	// changed is closed when there is another line or instance, or no more.
	changed chan struct{}
}

type logLine struct {
	stamp time.Time
	text  string
}

func newKubelet() *kubelet {
	return &kubelet{pods: map[string]*loggingPod{}, random: rand.New(rand.NewPCG(1, 2))}
}

// do changes what there is of a pod.
func (k *kubelet) do(pod string, change func(*loggingPod)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[pod] == nil {
		k.pods[pod] = &loggingPod{changed: make(chan struct{})}
	}
	change(k.pods[pod])
	close(k.pods[pod].changed)
	k.pods[pod].changed = make(chan struct{})
}

func (k *kubelet) start(pod string) {
	k.do(pod, func(p *loggingPod) { p.instances, p.isEnded = append(p.instances, nil), false })
}

func (k *kubelet) end(pod string) { k.do(pod, func(p *loggingPod) { p.isEnded = true }) }

func (k *kubelet) write(pod, text string) {
	k.do(pod, func(p *loggingPod) {
		last := len(p.instances) - 1
		p.instances[last] = append(p.instances[last], logLine{time.Now(), text})
	})
}

// remove lets the logs of the pod be gone.
func (k *kubelet) remove(pod string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, pod)
}

// Open opens the log of a pod, as the API server does.
func (k *kubelet) Open(ctx context.Context, name types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pod, ok := k.pods[name.Name]
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name.Name)
	}
	instance := len(pod.instances) - 1
	if options.Previous {
		instance--
	}
	if instance < 0 {
		return nil, apierrors.NewBadRequest("there is no such container")
	}
	log := &connection{ctx: ctx, kubelet: k, pod: pod, instance: instance, options: options, breaksIn: -1}
	if options.SinceTime != nil {
		log.since = options.SinceTime.Rfc3339Copy().Time
	}
	if options.SinceSeconds != nil {
		log.since = time.Now().Add(-time.Duration(*options.SinceSeconds) * time.Second)
	}
	if lines := len(pod.instances[instance]); options.TailLines != nil {
		log.next = max(0, lines-int(*options.TailLines))
	}
	if k.breaks > 0 && k.random.IntN(4) > 0 {
		log.breaksIn = k.random.IntN(k.breaks)
	}
	k.opened++
	k.open++
	return log, nil
}

// connection is an open log.
type connection struct {
	ctx      context.Context
	kubelet  *kubelet
	pod      *loggingPod
	instance int
	options  *corev1.PodLogOptions
	since    time.Time
	next     int
	breaksIn int
	buffered bytes.Buffer
	err      error
}

func (c *connection) Close() error {
	c.kubelet.mu.Lock()
	defer c.kubelet.mu.Unlock()
	c.kubelet.open--
	return nil
}

func (c *connection) Read(into []byte) (int, error) {
	for {
		if c.buffered.Len() > 0 {
			return c.buffered.Read(into)
		}
		if c.err != nil {
			return 0, c.err
		}
		wait := c.fill()
		if wait == nil {
			continue
		}
		select {
		case <-wait:
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		}
	}
}

// fill takes what there is of the log, or returns what to wait for.
func (c *connection) fill() <-chan struct{} {
	c.kubelet.mu.Lock()
	defer c.kubelet.mu.Unlock()
	lines := c.pod.instances[c.instance]
	for ; c.next < len(lines); c.next++ {
		line := lines[c.next]
		if line.stamp.Before(c.since) {
			continue
		}
		text := fmt.Sprintf("%s %s\n", line.stamp.Format("2006-01-02T15:04:05.000000000Z07:00"), line.text)
		if c.breaksIn == 0 {
			c.err = io.EOF
			if c.options.Previous || c.pod.isEnded || c.kubelet.random.IntN(2) == 0 {
				c.buffered.WriteString(text[:c.kubelet.random.IntN(len(text))])
				c.err = io.ErrUnexpectedEOF
			}
			return nil
		}
		c.breaksIn--
		c.buffered.WriteString(text)
	}
	if c.buffered.Len() > 0 {
		return nil
	}
	isCurrent := c.instance == len(c.pod.instances)-1
	if !c.options.Follow || !isCurrent || c.pod.isEnded {
		c.err = io.EOF
		return nil
	}
	return c.pod.changed
}
