// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storagequota

import (
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	clocktesting "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// stored is a box of some size, which the second result says.
func stored(namespace, name string, text int) (*modelv1.ModelBox, int) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"note": strings.Repeat("n", text)}}}
	return box, box.Size()
}

func named(namespace, name string) objectKey {
	return objectKey{"modelboxes", types.NamespacedName{Namespace: namespace, Name: name}}
}

func expectTotal(t *testing.T, u *Usage, namespace string, want int) {
	t.Helper()
	if total, _ := u.reserve(named(namespace, "probe"), 0, 1<<30, true); total != want {
		t.Errorf("namespace %s has %d bytes, want %d", namespace, total, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsageFollowsTheBoxes(t *testing.T) {
	u := NewUsage(clocktesting.NewFakePassiveClock(now), "modelboxes")
	web, webBytes := stored("one", "web", 100)
	mail, mailBytes := stored("one", "mail", 200)
	other, otherBytes := stored("two", "web", 300)
	if u.HasSynced() {
		t.Error("nothing has been read and everything is known")
	}
	must(t, u.Store("modelboxes").Replace([]any{web, other}, "1"))
	if !u.HasSynced() {
		t.Error("everything has been read and is not known")
	}
	must(t, u.Store("modelboxes").Add(mail))
	expectTotal(t, u, "one", webBytes+mailBytes)
	expectTotal(t, u, "two", otherBytes)

	grown, grownBytes := stored("one", "web", 1000)
	must(t, u.Store("modelboxes").Update(grown))
	expectTotal(t, u, "one", grownBytes+mailBytes)
	must(t, u.Store("modelboxes").Delete(mail))
	expectTotal(t, u, "one", grownBytes)
	must(t, u.Store("modelboxes").Replace([]any{mail}, "2"))
	expectTotal(t, u, "one", mailBytes)
	expectTotal(t, u, "two", 0)
	must(t, u.Store("modelboxes").Delete(mail))
	if len(u.sizes)+len(u.totals)+len(u.reservations) != 0 {
		t.Errorf("of boxes that are gone there is left %v, %v, %v", u.sizes, u.totals, u.reservations)
	}
}

// Objects of one name and of different resources are different objects, and what one resource has says nothing about
// the other.
func TestUsageCountsAllResources(t *testing.T) {
	u := NewUsage(clocktesting.NewFakePassiveClock(now), "modelboxes", "others")
	web, webBytes := stored("one", "web", 100)
	other, otherBytes := stored("one", "web", 200)
	must(t, u.Store("modelboxes").Replace([]any{web}, "1"))
	if u.HasSynced() {
		t.Error("one of two resources has been read and everything is known")
	}
	must(t, u.Store("others").Replace([]any{other}, "1"))
	if !u.HasSynced() {
		t.Error("everything has been read and is not known")
	}
	expectTotal(t, u, "one", webBytes+otherBytes)
	must(t, u.Store("modelboxes").Replace(nil, "2"))
	expectTotal(t, u, "one", otherBytes)
	must(t, u.Store("modelboxes").Delete(web))
	expectTotal(t, u, "one", otherBytes)
}

func TestReservations(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	u := NewUsage(clock, "modelboxes")
	first, bytes := stored("one", "first", 100)
	limit := 2 * bytes
	for _, row := range []struct {
		name   string
		dryRun bool
		fits   bool
	}{{"dry", true, true}, {"first", false, true}, {"second", false, true}, {"third", false, false}, {"first", false, true}} {
		if _, fits := u.reserve(named("one", row.name), bytes, limit, row.dryRun); fits != row.fits {
			t.Errorf("%s fits: %t, want %t", row.name, fits, row.fits)
		}
	}
	if _, fits := u.reserve(named("two", "web"), bytes, limit, false); !fits {
		t.Error("one namespace fills the other")
	}

	// One was written; of the other nothing is heard.
	must(t, u.Store("modelboxes").Add(first))
	expectTotal(t, u, "one", 2*bytes)
	clock.SetTime(now.Add(reservationPeriod + 1))
	expectTotal(t, u, "one", bytes)
	if _, fits := u.reserve(named("one", "third"), bytes, limit, false); !fits {
		t.Error("what was not written takes room forever")
	}
}

// However many come at once, they stay within the limit.
func TestReservationsRace(t *testing.T) {
	u := NewUsage(clocktesting.NewFakePassiveClock(now), "modelboxes")
	const allowed, attempts = 5, 50
	var running sync.WaitGroup
	let := make(chan struct{}, attempts)
	for i := range attempts {
		running.Go(func() {
			if _, fits := u.reserve(named("one", strings.Repeat("w", i+1)), 100, allowed*100, false); fits {
				let <- struct{}{}
			}
		})
	}
	running.Wait()
	if len(let) != allowed {
		t.Errorf("%d were let in, want %d", len(let), allowed)
	}
}

func TestTheLimitOfANamespace(t *testing.T) {
	u := NewUsage(clocktesting.NewFakePassiveClock(now), "modelboxes")
	must(t, u.Store("modelboxes").Replace(nil, "1"))
	plugin := &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update)}
	Initializer{Usage: u, MaxNamespaceBytes: 1000}.Initialize(plugin)
	create := func(text int) error {
		attributes := admission.NewAttributesRecord(newBox(strings.Repeat("n", text)), nil, boxKind, "default", "web",
			modelv1.SchemeGroupVersion.WithResource("modelboxes"), "", admission.Create, nil, false, nil)
		return plugin.Validate(t.Context(), attributes, interfaces)
	}
	withManagedFields := admission.NewAttributesRecord(withFields(2000, newBox("n")), nil, boxKind, "default", "web",
		modelv1.SchemeGroupVersion.WithResource("modelboxes"), "", admission.Create, nil, false, nil)
	if err := plugin.Validate(t.Context(), withManagedFields, interfaces); !apierrors.IsForbidden(err) {
		t.Errorf("a box whose managed fields do not fit: %v", err)
	}
	if err := create(500); err != nil {
		t.Errorf("a box that fits: %v", err)
	}
	err := create(1000)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: the objects of the namespace would take 1") ||
		!strings.Contains(err.Error(), "limited to 1000 by --max-modelbox-bytes-per-namespace") {
		t.Errorf("a box that does not: %v", err)
	}
}
