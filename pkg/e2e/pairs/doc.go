// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package pairs tests every change of boxes and of stacks in every way that there is to make it or to take it back: while it is
// under way, while the box is paused, while something keeps it from being written, and over servers and stores that are lost.
// Whatever the way, all is in the end as the box says, and no data and no pod that serves is its price.
package pairs
