// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/token"
)

// outcome is what the tests say about a mutant.
type outcome string

const (
	// killed is a mutant that a test notices.
	killed outcome = "killed"
	// survived is a mutant that tests reach, and that none notices.
	survived outcome = "survived"
	// unreached is a mutant that no test reaches.
	unreached outcome = "unreached"
)

// mutant is a small change of a package.
type mutant struct {
	// id is the number that selects the mutant, from 1.
	id int
	// position is where the change is. Its file name is relative to the repository.
	position token.Position
	// source is what is changed, in one line, and change is what becomes of it.
	source, change string
	outcome        outcome
}

// key names the mutant in the file of accepted ones. It has no line number, which other changes of the file would change.
func (m *mutant) key() string {
	return fmt.Sprintf("%s: %s: %s", m.position.Filename, m.change, m.source)
}
