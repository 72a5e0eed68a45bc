// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import "strings"

// IsMergeDirective returns whether strategic merge takes a key of a map for a directive, such as "$patch", and not for
// the name of a field.
func IsMergeDirective(key string) bool {
	return key == "$patch" || key == "$retainKeys" ||
		strings.HasPrefix(key, "$setElementOrder/") || strings.HasPrefix(key, "$deleteFromPrimitiveList/")
}
