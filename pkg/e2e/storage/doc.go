// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage tests that failures of the server and its disk lose no acknowledged write, and that the server recovers an empty,
// foreign or older store before anything is deleted.
package storage
