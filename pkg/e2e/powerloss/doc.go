// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package powerloss has a file system that loses data that is not synced in a power cut, like a disk: complete and partial writes,
// and the creation, renaming and removal of files in a directory that is not synced.
package powerloss
