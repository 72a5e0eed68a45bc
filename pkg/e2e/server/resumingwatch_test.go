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

// resumingWatch watches boxes, and resumes from the last version each time a watch ends. If the version has expired, it lists the
// boxes, like informers.
type resumingWatch struct {
	traffic *traffic

	mu sync.Mutex
	// seen has the number of events of each version, and listed the versions of boxes in the last list.
	seen   map[string]int
	listed map[string]string
}

// run watches from a version until ctx is done.
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

// follow returns the version to resume from when the watch has ended, and an error if the watch cannot resume.
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
					err = nil // the connection was closed, for example because the server was killed
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

// list lists the boxes, and returns the version to resume from. If the list fails, it returns the former version.
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

// checkComplete returns nil if the watch received every acknowledged version once.
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

// isAtLeast returns false for an empty version.
func isAtLeast(version, other string) bool {
	result, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && result >= 0
}
