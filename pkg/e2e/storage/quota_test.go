// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"crypto/rand"
	"encoding/base64"
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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const quotaReached = "QuotaReached"

// TestFullStorageRefusesOnlyGrowth fills the storage with boxes of one namespace, and of another. Both are read and
// deleted from, and written to again once that has made room. Nothing that was acknowledged is lost.
func TestFullStorageRefusesOnlyGrowth(t *testing.T) {
	t.Parallel()
	p := framework.NewControlPlane(t, framework.ServerFlags("--quota-backend-bytes=16777216", "--max-modelbox-bytes-per-namespace=-1")...)
	n, other := p.NewNamespace(t), p.NewNamespace(t)
	held := framework.NewBox("held", framework.Pause)
	held.Finalizers = []string{"example.com/hold"}
	held.Annotations = map[string]string{"note": strings.Repeat("n", 1000)}
	n.CreateBox(held)

	acknowledged := fillStorage(n, "web")
	expectHas(n, acknowledged)
	whileFull(n, "no box is created in another namespace", func() error { return isRefused(createOnce(other, newLargeBox("last"))) })
	whileFull(n, "readyz says so", func() error { return hasWarning(t, p, "the storage is full: boxes use") })
	whileFull(n, "a metric says so", func() error {
		if framework.Sum(framework.Scrape(t, p.DirectClient(t)), "modelbox_storage_shortage", map[string]string{"reason": quotaReached}) != 1 {
			return errors.New("it does not")
		}
		return nil
	})

	// What grows is refused. What shrinks is not, nor is what a deletion needs: where etcd itself is full for a moment,
	// the client tries again when it is told to.
	whileFull(n, "no box grows", func() error {
		return isRefused(patchOnce(n, "held", fmt.Sprintf(`{"metadata":{"annotations":{"more-%d":"text"}}}`, time.Now().UnixNano())))
	})
	if _, err := n.Boxes.Patch(n.Ctx, "held", types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":null}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("a box that shrinks: %v", err)
	}
	if err := n.Boxes.Delete(n.Ctx, "held", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a box with a finalizer: %v", err)
	}
	if _, err := n.Boxes.Patch(n.Ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("the finalizer: %v", err)
	}
	n.Eventually("a box without finalizers is gone", func() error {
		_, err := n.Boxes.Get(n.Ctx, "held", metav1.GetOptions{})
		return framework.CheckGone(err)
	})

	if err := n.Boxes.DeleteCollection(n.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("there is room again", func() error {
		_, err := createOnce(n, framework.NewBox("new", framework.Pause))
		return err
	})
	other.CreateReadyBox(framework.NewBox("web"))
	awaitStorageEvent(t, p, "StorageAvailable")

	// As often as it is full.
	expectHas(other, fillStorage(other, "more"))
	if err := other.Boxes.DeleteCollection(other.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("there is room again", func() error {
		_, err := createOnce(n, framework.NewBox("newer", framework.Pause))
		return err
	})
}

// fillPatience is for how long boxes are created, one a try, until no more are accepted.
const fillPatience = 10 * framework.Patience

// TestNamespaceFillsNoMoreThanItsShare: the boxes of one namespace fill half of the storage, and leave the other half
// to others.
func TestNamespaceFillsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	p := framework.NewControlPlane(t, framework.ServerFlags("--quota-backend-bytes=16777216")...)
	n, other := p.NewNamespace(t), p.NewNamespace(t)
	created := 0
	framework.Eventually(t, fillPatience, "the namespace is full", func() error {
		_, err := createOnce(n, newLargeBox("web"))
		switch {
		case err == nil:
			created++
			return errors.New("there is room")
		case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "limited to 4194304 by --max-modelbox-bytes-per-namespace"):
			return err
		}
		return nil
	})
	if bytes := created * len(newLargeBox("").Annotations["fill"]); bytes > 4194304 {
		t.Errorf("it has %d bytes", bytes)
	}
	other.CreateReadyBox(framework.NewBox("web"))

	if err := n.Boxes.DeleteCollection(n.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("there is room again", func() error {
		_, err := createOnce(n, newLargeBox("new"))
		return err
	})
}

// fillStorage creates boxes until they are refused, and returns the UIDs of those that were acknowledged. What is
// refused once may not be after a moment, when history is gone, so it goes on until the server has told of it.
func fillStorage(n *framework.Namespace, prefix string) map[string]string {
	n.T.Helper()
	told := storageEvents(n.T, n.ControlPlane, quotaReached)
	acknowledged := map[string]string{}
	framework.Eventually(n.T, fillPatience, "the storage is full", func() error {
		created, err := createOnce(n, newLargeBox(prefix))
		switch {
		case err == nil:
			acknowledged[created.Name] = string(created.UID)
			return errors.New("there is room")
		case !isStorageFull(err):
			n.T.Fatal(err)
		case storageEvents(n.T, n.ControlPlane, quotaReached) == told:
			return errors.New("there is no event")
		}
		return nil
	})
	return acknowledged
}

// newLargeBox is a box with a name of its own, of which some hundred fill the storage: what it has is hardly compressed.
func newLargeBox(prefix string) *modelv1.ModelBox {
	random := make([]byte, 75_000)
	_, _ = rand.Read(random) // never fails
	box := framework.NewBox("", framework.Pause)
	box.GenerateName = prefix + "-"
	box.Annotations = map[string]string{"fill": base64.StdEncoding.EncodeToString(random)}
	return box
}

// createOnce creates a box and does not try again by itself, as clients do.
func createOnce(n *framework.Namespace, box *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	created := &modelv1.ModelBox{}
	err := n.ControlPlane.ModelClient.ModelV1().RESTClient().Post().Namespace(n.Name).Resource("modelboxes").
		Body(box).MaxRetries(0).Do(n.Ctx).Into(created)
	return created, err
}

// patchOnce changes a box and does not try again by itself.
func patchOnce(n *framework.Namespace, name, patch string) (*modelv1.ModelBox, error) {
	patched := &modelv1.ModelBox{}
	err := n.ControlPlane.ModelClient.ModelV1().RESTClient().Patch(types.MergePatchType).Namespace(n.Name).Resource("modelboxes").Name(name).
		Body([]byte(patch)).MaxRetries(0).Do(n.Ctx).Into(patched)
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
func whileFull(n *framework.Namespace, what string, check func() error) {
	n.T.Helper()
	n.Eventually(what+" while the storage is full", func() error {
		if err := isRefused(createOnce(n, newLargeBox("last"))); err != nil {
			return err
		}
		return check()
	})
}

// expectHas checks that all of these boxes are there.
func expectHas(n *framework.Namespace, uids map[string]string) {
	n.T.Helper()
	boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	stored := map[string]string{}
	for _, box := range boxes.Items {
		stored[box.Name] = string(box.UID)
	}
	if len(uids) == 0 {
		n.T.Error("none was acknowledged")
	}
	for name, uid := range uids {
		if stored[name] != uid {
			n.T.Errorf("box %s: UID %s was acknowledged, %q is stored", name, uid, stored[name])
		}
	}
}

// hasWarning returns nil when the server is ready, and its health says this.
func hasWarning(t *testing.T, p *framework.ControlPlane, want string) error {
	t.Helper()
	text, err := p.DirectClient(t).Get().AbsPath("/readyz").Param("verbose", "").DoRaw(t.Context())
	if err == nil && !strings.Contains(string(text), "readyz check passed\nwarn: boxes may not grow: "+want) {
		err = fmt.Errorf("readyz says:\n%s", text)
	}
	return err
}

// awaitStorageEvent waits until the server has told this of its storage.
func awaitStorageEvent(t *testing.T, p *framework.ControlPlane, reason string) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "there is an event "+reason, func() error {
		if storageEvents(t, p, reason) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
}

// storageEvents returns how often the server has told this of its storage.
func storageEvents(t *testing.T, p *framework.ControlPlane, reason string) int {
	t.Helper()
	events, err := p.KubeClient.EventsV1().Events("modelbox-system").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		t.Fatal(err)
	}
	return len(events.Items)
}
