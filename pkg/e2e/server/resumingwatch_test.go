// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// resumingWatch watches boxes, and goes on from where it was whenever a watch ends. When a server does not know any more what
// was changed since then, it lists them, as informers do.
type resumingWatch struct {
	traffic *traffic

	mu sync.Mutex
	// seen is how often each version was shown, and listed the versions of boxes in the last list.
	seen   map[string]int
	listed map[string]string
}

// run watches from that version on until ctx is done.
func (w *resumingWatch) run(ctx context.Context, version string) {
	for ctx.Err() == nil {
		began := time.Now()
		opened, err := w.traffic.request(http.MethodGet, "").
			VersionedParams(&metav1.ListOptions{Watch: true, ResourceVersion: version, AllowWatchBookmarks: true}, scheme.ParameterCodec).Watch(ctx)
		if err == nil {
			w.traffic.succeed("watch")
			version, err = w.follow(ctx, opened, version)
		}
		switch {
		case ctx.Err() != nil:
			return
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			version = w.list(ctx, version)
		case err != nil:
			w.traffic.fail(began, "watch", err)
			time.Sleep(trafficPeriod)
		}
	}
}

// follow returns from where to go on when the watch has ended, and an error when it cannot go on from there.
func (w *resumingWatch) follow(ctx context.Context, opened watch.Interface, version string) (string, error) {
	defer opened.Stop()
	for {
		select {
		case <-ctx.Done():
			return version, nil
		case event, more := <-opened.ResultChan():
			if !more {
				return version, nil
			}
			if event.Type == watch.Error {
				err := apierrors.FromObject(event.Object)
				if apierrors.IsInternalError(err) {
					err = nil // it was cut off, as by a server that is killed
				}
				return version, err
			}
			box, isBox := event.Object.(*modelv1.ModelBox)
			if !isBox {
				return version, fmt.Errorf("%s of %T", event.Type, event.Object)
			}
			version = box.ResourceVersion
			if event.Type != watch.Bookmark {
				w.mu.Lock()
				w.seen[version]++
				w.mu.Unlock()
			}
		}
	}
}

// list returns from where to go on, which is where the watch was if boxes cannot be listed either.
func (w *resumingWatch) list(ctx context.Context, version string) string {
	w.traffic.succeed("relist")
	boxes, err := w.traffic.n.Boxes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return version
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed = map[string]string{}
	for _, box := range boxes.Items {
		w.listed[box.Name] = box.ResourceVersion
	}
	return boxes.ResourceVersion
}

// checkComplete returns nil when every version that a user was told of was seen, and none was seen twice.
func (w *resumingWatch) checkComplete() error {
	w.traffic.mu.Lock()
	defer w.traffic.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for version, name := range w.traffic.written {
		if w.seen[version] == 0 && !isAtLeast(w.listed[name], version) {
			return fmt.Errorf("version %s of box %s was not seen, %d others were", version, name, len(w.seen))
		}
	}
	for version, times := range w.seen {
		if times > 1 {
			return fmt.Errorf("version %s was seen %d times", version, times)
		}
	}
	return nil
}

// isAtLeast is false for a version that is empty.
func isAtLeast(version, other string) bool {
	result, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && result >= 0
}
