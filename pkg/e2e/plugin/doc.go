// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package plugin tests "kubectl modelbox", as kubectl runs it.
package plugin
