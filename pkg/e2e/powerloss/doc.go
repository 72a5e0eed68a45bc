// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package powerloss has a file system that loses at a power cut what was not synced, as a disk does: writes, whole and in part,
// and the creation, renaming and removal of files in a directory that was not synced.
package powerloss
