// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rolloutchecks tests the checks of rollouts with the Prometheus of Debian.
package rolloutchecks
