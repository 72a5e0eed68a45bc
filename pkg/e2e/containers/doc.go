// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package containers tests what a simulated node cannot show: applications that run, are reached, and are installed. It
// needs a container node, which is Linux and root, and skips its tests elsewhere.
package containers
