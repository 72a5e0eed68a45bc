// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
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

// deadlineTest is a deadlineQueue whose time only moves when a test says so.
type deadlineTest struct {
	*deadlineQueue
	clock *testingclock.FakeClock
}

func newDeadlineTest() *deadlineTest {
	clock := testingclock.NewFakeClock(time.Unix(0, 0))
	return &deadlineTest{deadlineQueue: newDeadlineQueue(clock), clock: clock}
}

// add does what a work queue does with a box that nobody works on.
func (d *deadlineTest) add(box types.NamespacedName) {
	if _, isWaiting := d.entries[box]; isWaiting {
		d.Touch(box)
		return
	}
	d.Push(box)
}

// do carries out one word of a story: "box" adds it in the background, "box!" urgently, "+10s" lets time pass.
func (d *deadlineTest) do(t *testing.T, word string) {
	t.Helper()
	if after, isTime := strings.CutPrefix(word, "+"); isTime {
		step, err := time.ParseDuration(after)
		if err != nil {
			t.Fatal(err)
		}
		d.clock.Step(step)
		return
	}
	name, isUrgent := strings.CutSuffix(word, "!")
	if isUrgent {
		d.markUrgent(keyNamed(name))
	}
	d.add(keyNamed(name))
}

func (d *deadlineTest) popAll() []string {
	var names []string
	for d.Len() > 0 {
		names = append(names, d.Pop().Name)
	}
	return names
}

func TestBoxesLeaveTheQueueAsTheyAreDue(t *testing.T) {
	for _, row := range []struct {
		name, story, want string
	}{
		{"urgent boxes leave as they came", "a! b! c!", "a b c"},
		{"background boxes leave as they came", "c b a", "c b a"},
		{"an urgent box overtakes the background", "a b c!", "c a b"},
		{"until the background is due", "a +29s b! +2s c!", "b a c"},
		{"an older urgent box goes before a background box that is due", "a +29s b! +1h", "b a"},
		{"an urgent event raises a box that waits", "a b c b!", "b a c"},
		{"and puts it behind those that were urgent before", "a b! +1s a!", "b a"},
		{"a background event does not lower an urgent box", "a! a b! +1s a", "a b"},
		{"nor start the wait of a background box anew", "a +29s a +1s b! +1s a c!", "a b c"},
		{"an urgent event does not lower an urgent box", "a! +1s b! +1s a!", "a b"},
		{"an urgent event does not lower a box that is overdue", "a +40s b! +1s a!", "a b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDeadlineTest()
			for word := range strings.FieldsSeq(row.story) {
				d.do(t, word)
			}
			if diff := cmp.Diff(strings.Fields(row.want), d.popAll()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", row.story, diff)
			}
		})
	}
}

// A mark is for one time in the queue.
func TestABoxThatWasUrgentOnceIsNotUrgentForEver(t *testing.T) {
	for _, story := range []string{"a!", "a a!", "a! a!"} {
		t.Run(story, func(t *testing.T) {
			d := newDeadlineTest()
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

// Twice as many urgent boxes arrive as leave, for ever.
func TestAFloodOfUrgentBoxesDoesNotStarveTheBackground(t *testing.T) {
	d := newDeadlineTest()
	d.do(t, "background")
	arrived := map[string]time.Time{}
	begin := d.clock.Now()
	for i := 0; ; i++ {
		for _, name := range []string{fmt.Sprint(i, "-first"), fmt.Sprint(i, "-second")} {
			d.do(t, name+"!")
			arrived[name] = d.clock.Now()
		}
		name := d.Pop().Name
		if name == "background" {
			return
		}
		if arrived[name].Sub(begin) > backgroundPatience {
			t.Fatalf("a box that became urgent after %s went before one that waited from the beginning", arrived[name].Sub(begin))
		}
		d.clock.Step(time.Second)
	}
}

func TestLenCountsEveryBoxOnce(t *testing.T) {
	d := newDeadlineTest()
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
	if d.Len() != 0 || len(d.entries) != 0 || len(d.urgent) != 0 {
		t.Errorf("the empty queue still knows %d boxes, %d entries, %d marks", d.Len(), len(d.entries), len(d.urgent))
	}
}

// popWhatMay returns the boxes that may leave now, as namespace/name.
func (d *deadlineTest) popWhatMay() []string {
	var names []string
	for d.Len() > 0 {
		names = append(names, d.Pop().String())
	}
	return names
}

func TestANamespaceHoldsNoMoreThanItsShare(t *testing.T) {
	d := newDeadlineTest()
	d.limit(2)
	in := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		d.Push(in("hung", name))
	}
	check(t, "those that leave first", []string{"hung/1", "hung/2"}, d.popWhatMay())

	d.clock.Step(time.Minute)
	for _, name := range []string{"1", "2", "3"} {
		d.Push(in("other", name))
	}
	check(t, "those of another namespace", []string{"other/1", "other/2"}, d.popWhatMay())

	d.done(in("hung", "2"))
	d.markUrgent(in("hung", "4"))
	d.Touch(in("hung", "4"))
	d.done(in("other", "1"))
	d.done(in("other", "2"))
	check(t, "those whose turn it is then", []string{"hung/3", "other/3"}, d.popWhatMay())

	for _, box := range []types.NamespacedName{in("hung", "1"), in("hung", "3"), in("other", "3")} {
		d.done(box)
	}
	check(t, "the rest", []string{"hung/4"}, d.popWhatMay())
	d.done(in("hung", "4"))
	check(t, "namespaces that are remembered", 0, len(d.namespaces))
}

func TestALimitIsAtLeastOne(t *testing.T) {
	d := newDeadlineTest()
	d.limit(0)
	d.add(keyNamed("a"))
	d.add(keyNamed("b"))
	check(t, "those that leave", []string{"default/a"}, d.popWhatMay())
}
