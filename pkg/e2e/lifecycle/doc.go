// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle tests what becomes of a box: that its spec is rolled out, scaled, paused and deleted as it says,
// and that its status and its events tell what really happens.
package lifecycle
