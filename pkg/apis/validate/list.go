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

// MaxErrors is the number of errors after which validation of a list ends.
const MaxErrors = 100

// Each yields the elements of a list until there are MaxErrors errors. This limits the cost of validating an invalid object.
func Each[T any](list []T, errs *field.ErrorList) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, element := range list {
			if len(*errs) >= MaxErrors || !yield(i, element) {
				return
			}
		}
	}
}

// UntilMaxErrors calls the rules one after the other until there are MaxErrors errors, and returns their errors. When ctx is done,
// it calls no more rules, and returns the error of ctx, at path, as the only error.
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

// Unique has the path of the first occurrence of each value.
type Unique[T comparable] map[T]*field.Path

// Add refuses a value that was added before. It ignores the zero value, which is a missing value for other rules.
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

// JoinNames returns the first 10 names for a message, and the number of the other ones.
func JoinNames(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNames)
}
