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

// TestFullStorageRefusesOnlyGrowth fills the storage with boxes of two namespaces. Clients can still read and delete boxes in both,
// and can write again after enough deletions. No acknowledged write is lost.
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

	// The server refuses updates that make boxes larger. It accepts updates that make boxes smaller, and the updates of a deletion.
	// If etcd is full for a moment, the client retries after Retry-After.
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

	// The server records one event each time the storage becomes full.
	expectHas(other, fillStorage(other, "more"))
	if err := other.Boxes.DeleteCollection(other.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("there is room again", func() error {
		_, err := createOnce(n, framework.NewBox("newer", framework.Pause))
		return err
	})
}

// fillPatience is the timeout for filling the storage.
const fillPatience = 10 * framework.Patience

// TestNamespaceFillsNoMoreThanItsShare checks that the boxes of one namespace fill only half of the storage, so that other
// namespaces can use the other half.
func TestNamespaceFillsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	p := framework.NewControlPlane(t, framework.ServerFlags("--quota-backend-bytes=16777216")...)
	n, other := p.NewNamespace(t), p.NewNamespace(t)
	created := 0
	framework.Eventually(t, fillPatience, "the namespace is full", func() error {
		var err error
		for ; err == nil; created++ {
			_, err = createOnce(n, newLargeBox("web"))
		}
		created-- // It was refused.
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "limited to 4194304 by --max-modelbox-bytes-per-namespace") {
			return err
		}
		return nil
	})
	if bytes := created * len(newLargeBox("").Annotations["fill"]); bytes > 4194304 {
		t.Errorf("the namespace has %d bytes", bytes)
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

// fillStorage creates boxes until the server refuses them and has recorded an event, and returns the UIDs of the created boxes. A
// first refusal is not enough, because the server may accept boxes again after a compaction.
func fillStorage(n *framework.Namespace, prefix string) map[string]string {
	n.T.Helper()
	told := storageEvents(n.T, n.ControlPlane, quotaReached)
	acknowledged := map[string]string{}
	framework.Eventually(n.T, fillPatience, "the storage is full", func() error {
		var err error
		for err == nil {
			var created *modelv1.ModelBox
			if created, err = createOnce(n, newLargeBox(prefix)); err == nil {
				acknowledged[created.Name] = string(created.UID)
			}
		}
		switch {
		case !isStorageFull(err):
			n.T.Fatal(err)
		case storageEvents(n.T, n.ControlPlane, quotaReached) == told:
			return errors.New("there is no event")
		}
		return nil
	})
	return acknowledged
}

// newLargeBox returns a box with a unique name and random data, which cannot be compressed. About a hundred of them fill the
// storage.
func newLargeBox(prefix string) *modelv1.ModelBox {
	random := make([]byte, 75_000)
	_, _ = rand.Read(random) // it returns no error
	box := framework.NewBox("", framework.Pause)
	box.GenerateName = prefix + "-"
	box.Annotations = map[string]string{"fill": base64.StdEncoding.EncodeToString(random)}
	return box
}

// createOnce creates a box without the retries of clients.
func createOnce(n *framework.Namespace, box *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	created := &modelv1.ModelBox{}
	err := n.ControlPlane.ModelClient.ModelV1().RESTClient().Post().Namespace(n.Name).Resource("modelboxes").
		Body(box).MaxRetries(0).Do(n.Ctx).Into(created)
	return created, err
}

// patchOnce patches a box without the retries of clients.
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

// isRefused returns nil if err is the refusal of a write because the storage is full.
func isRefused(_ *modelv1.ModelBox, err error) error {
	if isStorageFull(err) {
		return nil
	}
	return fmt.Errorf("the write ended with: %v", err)
}

// whileFull calls check until it returns nil. It fills the storage again if a compaction frees space meanwhile.
func whileFull(n *framework.Namespace, what string, check func() error) {
	n.T.Helper()
	n.Eventually(what+" while the storage is full", func() error {
		if err := isRefused(createOnce(n, newLargeBox("last"))); err != nil {
			return err
		}
		return check()
	})
}

// expectHas checks that all of these boxes exist.
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
		n.T.Error("no box was acknowledged")
	}
	for name, uid := range uids {
		if stored[name] != uid {
			n.T.Errorf("box %s: UID %s was acknowledged, %q is stored", name, uid, stored[name])
		}
	}
}

// hasWarning returns nil if the server is ready and its health check has the text.
func hasWarning(t *testing.T, p *framework.ControlPlane, want string) error {
	t.Helper()
	text, err := p.DirectClient(t).Get().AbsPath("/readyz").Param("verbose", "").DoRaw(t.Context())
	if err == nil && !strings.Contains(string(text), "readyz check passed\nwarn: boxes may not grow: "+want) {
		err = fmt.Errorf("readyz says:\n%s", text)
	}
	return err
}

// awaitStorageEvent waits for an event of the server about its storage.
func awaitStorageEvent(t *testing.T, p *framework.ControlPlane, reason string) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "there is an event "+reason, func() error {
		if storageEvents(t, p, reason) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
}

// storageEvents returns the number of events of the server about its storage.
func storageEvents(t *testing.T, p *framework.ControlPlane, reason string) int {
	t.Helper()
	events, err := p.KubeClient.EventsV1().Events("modelbox-system").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		t.Fatal(err)
	}
	return len(events.Items)
}
