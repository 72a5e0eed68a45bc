// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package pairs tests every change of boxes and of stacks in every way to make or to revert it: during the rollout, while the box
// is paused, while writes are denied, and over losses of the server and the store. At the end, all children must match, and no data
// and no serving pod may be lost unnecessarily.
package pairs
