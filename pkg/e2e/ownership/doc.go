// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ownership tests who decides about which field of a child: the box, the cluster, or another client. The server restores
// the fields that the box sets, leaves all other fields alone, and writes nothing if it has nothing to change.
package ownership
