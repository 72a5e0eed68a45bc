// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// log shows rollouts as lines, in the words of "kubectl rollout status": one whenever something has changed.
type log struct {
	out io.Writer

	lock  sync.Mutex
	shown map[string][]string
}

func (l *log) show(object runtime.Object) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if stateOf(object).isComplete {
		return
	}
	name, now := nameOf(object), waitingFor(object)
	for _, line := range now {
		if !slices.Contains(l.shown[name], line) {
			fmt.Fprintf(l.out, "Waiting for %s rollout to finish: %s...\n", name, line)
		}
	}
	if l.shown == nil {
		l.shown = map[string][]string{}
	}
	l.shown[name] = now
}

func (l *log) complete(object runtime.Object) {
	l.lock.Lock()
	defer l.lock.Unlock()
	fmt.Fprintf(l.out, "%s successfully rolled out\n", nameOf(object))
}

func (l *log) end() {}
