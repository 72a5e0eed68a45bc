// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
)

func keyNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// priorityTest is a priorityQueue whose time only moves when a test says so.
type priorityTest struct {
	*priorityQueue
	clock *testingclock.FakeClock
}

func newPriorityTest(maxPerNamespace int) *priorityTest {
	clock := testingclock.NewFakeClock(time.Unix(0, 0))
	return &priorityTest{priorityQueue: newPriorityQueue(maxPerNamespace, clock), clock: clock}
}

// add does what a work queue does with an item that is not being processed.
func (d *priorityTest) add(item types.NamespacedName) {
	if _, isWaiting := d.entries[item]; isWaiting {
		d.Touch(item)
		return
	}
	d.Push(item)
}

// do carries out one word of a story: "a" adds it with low priority, "a!" with normal priority, "+10s" lets time pass.
func (d *priorityTest) do(t *testing.T, word string) {
	t.Helper()
	if after, isTime := strings.CutPrefix(word, "+"); isTime {
		step, err := time.ParseDuration(after)
		if err != nil {
			t.Fatal(err)
		}
		d.clock.Step(step)
		return
	}
	name, isNormal := strings.CutSuffix(word, "!")
	if isNormal {
		d.markNormal(keyNamed(name))
	}
	d.add(keyNamed(name))
}

func (d *priorityTest) popAll() []string {
	var names []string
	for d.Len() > 0 {
		names = append(names, d.Pop().Name)
	}
	return names
}

func TestItemsLeaveByPriorityAndAge(t *testing.T) {
	for _, row := range []struct {
		name, story, want string
	}{
		{"items of normal priority leave as they came", "a! b! c!", "a b c"},
		{"items of low priority leave as they came", "c b a", "c b a"},
		{"normal priority goes before low priority", "a b c!", "c a b"},
		{"until the item of low priority is due", "a +29s b! +2s c!", "b a c"},
		{"an older item of normal priority goes before one of low priority that is due", "a +29s b! +1h", "b a"},
		{"adding with normal priority raises an item that waits", "a b c b!", "b a c"},
		{"and puts it behind those that were of normal priority before", "a b! +1s a!", "b a"},
		{"adding with low priority does not lower an item of normal priority", "a! a b! +1s a", "a b"},
		{"an item of low priority does not restart the delay", "a +29s a +1s b! +1s a c!", "a b c"},
		{"adding with normal priority does not lower an item of normal priority", "a! +1s b! +1s a!", "a b"},
		{"adding with normal priority does not lower an item that is overdue", "a +40s b! +1s a!", "a b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newPriorityTest(math.MaxInt)
			for word := range strings.FieldsSeq(row.story) {
				d.do(t, word)
			}
			if diff := cmp.Diff(strings.Fields(row.want), d.popAll()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", row.story, diff)
			}
		})
	}
}

func TestPriorityHoldsForOneTimeInTheQueue(t *testing.T) {
	for _, story := range []string{"a!", "a a!", "a! a!"} {
		t.Run(story, func(t *testing.T) {
			d := newPriorityTest(math.MaxInt)
			for word := range strings.FieldsSeq(story) {
				d.do(t, word)
			}
			d.Pop()
			for _, word := range []string{"b", "a"} {
				d.do(t, word)
			}
			if diff := cmp.Diff([]string{"b", "a"}, d.popAll()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Twice as many items of normal priority arrive as leave, forever.
func TestNormalPriorityDoesNotStarveLowPriority(t *testing.T) {
	d := newPriorityTest(math.MaxInt)
	d.do(t, "low")
	arrived := map[string]time.Time{}
	begin := d.clock.Now()
	for i := 0; ; i++ {
		for _, name := range []string{fmt.Sprint(i, "-first"), fmt.Sprint(i, "-second")} {
			d.do(t, name+"!")
			arrived[name] = d.clock.Now()
		}
		name := d.Pop().Name
		if name == "low" {
			return
		}
		if arrived[name].Sub(begin) > lowPriorityDelay {
			t.Fatalf("an item that came after %s went before one that waited from the beginning", arrived[name].Sub(begin))
		}
		d.clock.Step(time.Second)
	}
}

func TestLenCountsEveryItemOnce(t *testing.T) {
	d := newPriorityTest(math.MaxInt)
	for _, step := range []struct {
		word string
		want int
	}{{"a", 1}, {"b!", 2}, {"a!", 2}, {"b", 2}, {"c", 3}} {
		d.do(t, step.word)
		if got := d.Len(); got != step.want {
			t.Errorf("after %s: got %d, want %d", step.word, got, step.want)
		}
	}
	d.popAll()
	if d.Len() != 0 || len(d.entries) != 0 || len(d.normal) != 0 {
		t.Errorf("the empty queue still knows %d items, %d entries, %d marks", d.Len(), len(d.entries), len(d.normal))
	}
}

// popAllowed returns the items that may leave now, as namespace/name.
func (d *priorityTest) popAllowed() []string {
	var names []string
	for d.Len() > 0 {
		names = append(names, d.Pop().String())
	}
	return names
}

func TestNoMoreItemsOfANamespaceLeaveThanAllowed(t *testing.T) {
	d := newPriorityTest(2)
	in := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		d.Push(in("hung", name))
	}
	expect(t, "those that leave first", []string{"hung/1", "hung/2"}, d.popAllowed())

	d.clock.Step(time.Minute)
	for _, name := range []string{"1", "2", "3"} {
		d.Push(in("other", name))
	}
	expect(t, "items of another namespace", []string{"other/1", "other/2"}, d.popAllowed())

	d.done(in("hung", "2"))
	d.markNormal(in("hung", "4"))
	d.Touch(in("hung", "4"))
	d.done(in("other", "1"))
	d.done(in("other", "2"))
	expect(t, "those whose turn it is then", []string{"hung/3", "other/3"}, d.popAllowed())

	for _, item := range []types.NamespacedName{in("hung", "1"), in("hung", "3"), in("other", "3")} {
		d.done(item)
	}
	expect(t, "the rest", []string{"hung/4"}, d.popAllowed())
	d.done(in("hung", "4"))
	expect(t, "namespaces that are remembered", 0, len(d.namespaces))
}

func TestMaxPerNamespaceIsAtLeastOne(t *testing.T) {
	d := newPriorityTest(0)
	d.add(keyNamed("a"))
	d.add(keyNamed("b"))
	expect(t, "those that leave", []string{"default/a"}, d.popAllowed())
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, -want +got:\n%s", what, diff)
	}
}
