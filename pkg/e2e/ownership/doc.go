// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ownership tests which fields of a child belong to the box, the cluster, or another client. The server restores
// the fields that the box sets, leaves all other fields alone, and writes nothing if it has nothing to change.
package ownership
