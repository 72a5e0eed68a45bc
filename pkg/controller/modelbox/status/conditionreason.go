// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxReason is how long the reason of a condition may be.
const MaxReason = 1024

// unknownReason replaces a reason that is not given, or of which nothing is left.
const unknownReason = "Unknown"

var (
	// validReason is the pattern of metav1.Condition.
	validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	// reasonWords are what may be kept of any other reason.
	reasonWords = regexp.MustCompile(`[A-Za-z0-9_,:]+`)
)

// ConditionReason makes a reason that a condition may have of one that a container runtime, a scheduler or any other
// program wrote, for whom there are no rules: "seccomp killed" becomes "SeccompKilled". A valid reason stays.
func ConditionReason(reason string) string {
	if len(reason) <= MaxReason && validReason.MatchString(reason) {
		return reason
	}
	var camel strings.Builder
	for _, word := range reasonWords.FindAllString(reason, -1) {
		first, size := utf8.DecodeRuneInString(word)
		camel.WriteRune(unicode.ToUpper(first))
		camel.WriteString(word[size:])
	}
	valid := strings.TrimLeft(camel.String(), "0123456789_,:")
	valid = strings.TrimRight(valid[:min(len(valid), MaxReason)], ",:")
	if valid == "" {
		return unknownReason
	}
	return valid
}
