// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// maxManagers is how many field managers metrics tell apart. A cluster has a handful that change children.
	maxManagers = 20

	// otherValue represents all values beyond the bound of a label.
	otherValue = "other"
)

// boundedLabel bounds the values of a label that come from users. Each value costs memory forever, here and in whatever scrapes it.
// The first values are kept, and the others share one value. The events about a box have them all.
type boundedLabel struct {
	max int

	mu   sync.Mutex
	kept sets.Set[string]
}

func newBoundedLabel(maxValues int) *boundedLabel {
	return &boundedLabel{max: maxValues, kept: sets.New[string]()}
}

// bound returns the value of the label for what a user wrote, which need not even be text.
func (l *boundedLabel) bound(value string) string {
	value = strings.ToValidUTF8(value, "\uFFFD")
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.kept.Has(value) {
		if len(l.kept) >= l.max {
			return otherValue
		}
		l.kept.Insert(value)
	}
	return value
}
