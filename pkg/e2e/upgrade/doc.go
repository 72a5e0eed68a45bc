// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package upgrade replaces the server by the server of another release, and records what a release stores and writes.
package upgrade
