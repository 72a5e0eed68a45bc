// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package message bounds what controllers say in conditions and events.
package message

import "strings"

// MaxBytes is how many bytes a message may have: what the note of an event allows. It keeps a condition within what
// metav1.Condition allows (32768), and a table readable.
const MaxBytes = 1024

// Truncate cuts a message that has more than MaxBytes, between two characters, and says so. Whatever it is made of, the
// result is valid UTF-8.
func Truncate(message string) string {
	const ellipsis = "…"
	message = strings.ToValidUTF8(message, "�")
	if len(message) <= MaxBytes {
		return message
	}
	return strings.ToValidUTF8(message[:MaxBytes-len(ellipsis)], "") + ellipsis
}
