// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package stack tests the lifecycle of a stack: its components start, are updated and are deleted in the order of their
// dependencies, and its status and its events report the progress.
package stack
