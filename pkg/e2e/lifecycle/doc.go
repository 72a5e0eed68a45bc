// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle tests the lifecycle of a box: rollouts, scaling, pauses and deletion, and its status and its events.
package lifecycle
