// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package stack tests what becomes of a stack: that its components start, are updated and are deleted in the order in which
// they depend on each other, and that its status and its events tell the story.
package stack
