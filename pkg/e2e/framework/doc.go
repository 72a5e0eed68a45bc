// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package framework has the shared parts of the end-to-end tests: a control plane, a namespace for each test, and functions that
// act as users do and wait for the results. Functions for only one subject are in its package.
package framework
