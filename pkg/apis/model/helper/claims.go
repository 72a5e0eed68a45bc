// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"strconv"
	"strings"
)

// ClaimName is what the PersistentVolumeClaim of a box is called that all of its pods share.
func ClaimName(box, storage string) string { return box + "-" + storage }

// PodClaimName returns the name of the PersistentVolumeClaim of one pod of the box's StatefulSet.
func PodClaimName(box, storage string, ordinal int) string {
	return storage + "-" + box + "-" + strconv.Itoa(ordinal)
}

// IsPodClaimName returns whether a PersistentVolumeClaim of that name is one of a pod of the box's StatefulSet.
func IsPodClaimName(name, box, storage string) bool {
	ordinal, found := strings.CutPrefix(name, storage+"-"+box+"-")
	return found && ordinal != "" && strings.Trim(ordinal, "0123456789") == ""
}
