// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"strings"
)

// NotOwnedError says that an object that does not belong to the owner has the name of a child.
type NotOwnedError struct {
	// Noun is what the owner is called.
	Noun       string
	Kind, Name string
	// Remedy is what can be done about it.
	Remedy string
}

func (e *NotOwnedError) Error() string {
	return fmt.Sprintf("%s %s named %s exists already and does not belong to this %s: %s", articleOf(e.Kind), e.Kind, e.Name, e.Noun, e.Remedy)
}

// articleOf returns the indefinite article that the name of a kind takes.
func articleOf(kind string) string {
	if strings.IndexAny(kind, "AEIO") == 0 {
		return "an"
	}
	return "a"
}

// ImmutableError says that a child cannot become what the owner asks for, and is not deleted for it.
type ImmutableError struct {
	Kind, Name string
	// Obstacle is what is in the way.
	Obstacle string
}

func (e *ImmutableError) Error() string {
	return fmt.Sprintf("%s %s holds data and is not replaced, although %s", e.Kind, e.Name, e.Obstacle)
}
