// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxErrors is how many errors are looked for in each list of an object.
const MaxErrors = 100

// Each yields the elements of a list until there are MaxErrors errors: what an invalid object costs does not grow with
// what is wrong with it.
func Each[T any](list []T, errs *field.ErrorList) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, element := range list {
			if len(*errs) >= MaxErrors || !yield(i, element) {
				return
			}
		}
	}
}

// UntilMaxErrors returns the errors of the rules, which are asked one after the other until there are MaxErrors. It asks
// no more once ctx is done, and returns that as the only error, at path.
func UntilMaxErrors(ctx context.Context, path *field.Path, rules ...func() field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, rule := range Each(rules, &errs) {
		if err := ctx.Err(); err != nil {
			return field.ErrorList{field.InternalError(path, fmt.Errorf("validating: %w", err))}
		}
		errs = append(errs, rule()...)
	}
	return errs
}

// Unique remembers where each value was seen first.
type Unique[T comparable] map[T]*field.Path

// Add refuses a value that was seen before. The zero value is not one: it is a missing value, which is a matter of
// other rules.
func (u Unique[T]) Add(value T, path *field.Path) field.ErrorList {
	var missing T
	if value == missing {
		return nil
	}
	if first, found := u[value]; found {
		duplicate := field.Duplicate(path, value)
		duplicate.Detail = fmt.Sprintf("%s has it already", first)
		return field.ErrorList{duplicate}
	}
	u[value] = path
	return nil
}

const maxNames = 10

// JoinNames lists names for a message, the first 10 of them.
func JoinNames(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNames)
}
