// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ownership tests who decides about which field of a child: the box, the cluster, or somebody else. What the
// box says is put back, what it does not say is left alone, and nothing is written when nothing is to do.
package ownership
