// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package server tests the process of the server: its start, stop and leader election without failed requests, its behaviour under
// load and disruption, and its health checks and metrics.
package server
