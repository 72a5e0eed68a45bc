// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const quotaReached = "QuotaReached"

// TestFullStorage fills the storage with boxes of one namespace, and of another. Both are read and deleted from, and
// written to again once that has made room. Nothing that was acknowledged is lost.
func TestFullStorage(t *testing.T) {
	t.Parallel()
	p := newControlPlane(t, serverFlags("--quota-backend-bytes=16777216", "--max-modelbox-bytes-per-namespace=-1")...)
	n, other := p.newNamespace(t), p.newNamespace(t)
	held := newBox("held", pause)
	held.Finalizers = []string{"example.com/hold"}
	held.Annotations = map[string]string{"note": strings.Repeat("n", 1000)}
	n.create(held)

	acknowledged := n.fillStorage("web")
	n.expectHas(acknowledged)
	n.whileFull("no box is created in another namespace", func() error { return isRefused(other.createOnce(newLargeBox("last"))) })
	n.whileFull("readyz says so", func() error { return p.hasWarning(t, "the storage is full: boxes take") })
	n.whileFull("a metric says so", func() error {
		if sum(scrape(t, p.directClient(t)), "modelbox_storage_shortage", map[string]string{"reason": quotaReached}) != 1 {
			return errors.New("it does not")
		}
		return nil
	})

	// What grows is refused. What shrinks is not, nor is what a deletion needs.
	n.whileFull("no box grows", func() error {
		return isRefused(n.patchOnce("held", fmt.Sprintf(`{"metadata":{"annotations":{"more-%d":"text"}}}`, time.Now().UnixNano())))
	})
	if _, err := n.patchOnce("held", `{"metadata":{"annotations":{"note":null}}}`); err != nil {
		t.Errorf("a box that shrinks: %v", err)
	}
	if err := n.boxes.Delete(n.ctx, "held", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a box with a finalizer: %v", err)
	}
	if _, err := n.patchOnce("held", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Errorf("the finalizer: %v", err)
	}
	n.eventually("a box without finalizers is gone", func() error {
		_, err := n.boxes.Get(n.ctx, "held", metav1.GetOptions{})
		return expectGone(err)
	})

	if err := n.boxes.DeleteCollection(n.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.eventually("there is room again", func() error {
		_, err := n.createOnce(newBox("new", pause))
		return err
	})
	other.createReady(newBox("web"))
	p.awaitStorageEvent(t, "StorageAvailable")

	// As often as it is full.
	other.expectHas(other.fillStorage("more"))
	if err := other.boxes.DeleteCollection(other.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.eventually("there is room again", func() error {
		_, err := n.createOnce(newBox("newer", pause))
		return err
	})
}

// TestNamespaceTakesNoMoreThanItsShare: the boxes of one namespace fill half of the storage, and leave the other half to
// others.
func TestNamespaceTakesNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	p := newControlPlane(t, serverFlags("--quota-backend-bytes=16777216")...)
	n, other := p.newNamespace(t), p.newNamespace(t)
	created := 0
	n.eventually("the namespace is full", func() error {
		_, err := n.createOnce(newLargeBox("web"))
		switch {
		case err == nil:
			created++
			return errors.New("there is room")
		case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "limited to 6291456 by --max-modelbox-bytes-per-namespace"):
			return err
		}
		return nil
	})
	if bytes := created * len(newLargeBox("").Annotations["fill"]); bytes > 6291456 {
		t.Errorf("it has %d bytes", bytes)
	}
	other.createReady(newBox("web"))

	if err := n.boxes.DeleteCollection(n.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.eventually("there is room again", func() error {
		_, err := n.createOnce(newLargeBox("new"))
		return err
	})
}

// fillStorage creates boxes until they are refused, and returns the UIDs of those that were acknowledged. What is refused
// once may not be after a moment, when history is gone, so it goes on until the server has told of it.
func (n *namespace) fillStorage(prefix string) map[string]string {
	n.t.Helper()
	told := n.plane.storageEvents(n.t, quotaReached)
	acknowledged := map[string]string{}
	n.eventually("the storage is full", func() error {
		created, err := n.createOnce(newLargeBox(prefix))
		switch {
		case err == nil:
			acknowledged[created.Name] = string(created.UID)
			return errors.New("there is room")
		case !isStorageFull(err):
			n.t.Fatal(err)
		case n.plane.storageEvents(n.t, quotaReached) == told:
			return errors.New("there is no event")
		}
		return nil
	})
	return acknowledged
}

// newLargeBox is a box with a name of its own, of which some hundred fill the storage.
func newLargeBox(prefix string) *modelv1.ModelBox {
	box := newBox("", pause)
	box.GenerateName = prefix + "-"
	box.Annotations = map[string]string{"fill": strings.Repeat("f", 100_000)}
	return box
}

// createOnce creates a box and does not try again by itself, as clients do.
func (n *namespace) createOnce(box *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	created := &modelv1.ModelBox{}
	err := n.plane.boxes.ModelV1().RESTClient().Post().Namespace(n.name).Resource("modelboxes").
		Body(box).MaxRetries(0).Do(n.ctx).Into(created)
	return created, err
}

// patchOnce changes a box and does not try again by itself.
func (n *namespace) patchOnce(name, patch string) (*modelv1.ModelBox, error) {
	patched := &modelv1.ModelBox{}
	err := n.plane.boxes.ModelV1().RESTClient().Patch(types.MergePatchType).Namespace(n.name).Resource("modelboxes").Name(name).
		Body([]byte(patch)).MaxRetries(0).Do(n.ctx).Into(patched)
	return patched, err
}

func isStorageFull(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInsufficientStorage &&
		status.Status().Reason == "InsufficientStorage" && status.Status().Details.RetryAfterSeconds > 0
}

// isRefused returns nil when a write was refused because the storage is full.
func isRefused(_ *modelv1.ModelBox, err error) error {
	if isStorageFull(err) {
		return nil
	}
	return fmt.Errorf("the write ended with: %v", err)
}

// whileFull tries check until it returns nil, and fills the room again that comes free meanwhile, of history.
func (n *namespace) whileFull(what string, check func() error) {
	n.t.Helper()
	n.eventually(what+" while the storage is full", func() error {
		if err := isRefused(n.createOnce(newLargeBox("last"))); err != nil {
			return err
		}
		return check()
	})
}

// expectHas checks that all of these boxes are there.
func (n *namespace) expectHas(uids map[string]string) {
	n.t.Helper()
	boxes, err := n.boxes.List(n.ctx, metav1.ListOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	stored := map[string]string{}
	for _, box := range boxes.Items {
		stored[box.Name] = string(box.UID)
	}
	if len(uids) == 0 {
		n.t.Error("none was acknowledged")
	}
	for name, uid := range uids {
		if stored[name] != uid {
			n.t.Errorf("box %s: UID %s was acknowledged, %q is stored", name, uid, stored[name])
		}
	}
}

// hasWarning returns nil when the server is ready, and its health says this.
func (p *controlPlane) hasWarning(t *testing.T, want string) error {
	t.Helper()
	text, err := p.directClient(t).Get().AbsPath("/readyz").Param("verbose", "").DoRaw(t.Context())
	if err == nil && !strings.Contains(string(text), "readyz check passed\nwarn: boxes may not grow: "+want) {
		err = fmt.Errorf("readyz says:\n%s", text)
	}
	return err
}

// awaitStorageEvent waits until the server has told this of its storage.
func (p *controlPlane) awaitStorageEvent(t *testing.T, reason string) {
	t.Helper()
	eventually(t, patience, "there is an event "+reason, func() error {
		if p.storageEvents(t, reason) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
}

// storageEvents returns how often the server has told this of its storage.
func (p *controlPlane) storageEvents(t *testing.T, reason string) int {
	t.Helper()
	events, err := p.kube.EventsV1().Events("modelbox-system").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		t.Fatal(err)
	}
	return len(events.Items)
}
