// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"io"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AdmitStream counts the request of ctx as a stream to the pods of the namespace until ctx is done. It returns 429 where a limit is
// reached.
func (a *Access) AdmitStream(ctx context.Context, namespace string) error {
	release, err := a.streams.acquire(ctx, namespace)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, release)
	return nil
}

// AdmitLogs is AdmitStream for a request that reads logs, and returns the function that opens the logs, as pods/log does. The stream
// that is counted has room for one open log. Each further log counts as another stream of the request until it is closed: openLog
// returns 429 where a limit is reached, and the errors of the cluster as they are. A log ends with an error when the context of
// openLog is done. With follow, openLog may not return before there is a line.
func (a *Access) AdmitLogs(ctx context.Context, namespace string) (openLog func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error), err error) {
	if err := a.AdmitStream(ctx, namespace); err != nil {
		return nil, err
	}
	var inUse atomic.Bool // the room for one log
	return func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
		release := func() { inUse.Store(false) }
		if !inUse.CompareAndSwap(false, true) {
			var err error
			if release, err = a.streams.acquire(ctx, namespace); err != nil {
				return nil, err
			}
		}
		return a.openLog(ctx, pod, options, release)
	}, nil
}

// CheckRoom returns 429 where a limit leaves no room for so many more streams of the user of a request to the pods of the namespace. It
// keeps no room for them.
func (a *Access) CheckRoom(ctx context.Context, namespace string, streams int) error {
	return a.streams.checkRoom(ctx, namespace, streams)
}
