// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage tests that no acknowledged write is lost, whatever happens to the server and its disk, and that a
// store that is empty, foreign or behind is recovered before anything is deleted.
package storage
