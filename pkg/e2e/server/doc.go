// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package server tests the server as a process among others: that it starts, stops and hands over without harm to
// users, holds up under load and disruption, and tells how it is.
package server
