// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import "fmt"

// severity says what a finding means for the pods that run.
type severity string

const (
	// refused is what no box can take over.
	refused severity = "Refused"
	// disruptive is what a box can only take over by replacing the pods.
	disruptive severity = "Disruptive"
	// note is what changes without the pods, or stays as it is.
	note severity = "Note"
)

// finding is something that the user has to know about a conversion.
type finding struct {
	severity severity
	message  string
}

func (c *conversion) add(severity severity, format string, args ...any) {
	c.findings = append(c.findings, finding{severity, fmt.Sprintf(format, args...)})
}

// isRefused returns whether the box cannot take over what runs, with the pods that run.
func (c *conversion) isRefused() bool {
	for _, f := range c.findings {
		if f.severity != note {
			return true
		}
	}
	return false
}
