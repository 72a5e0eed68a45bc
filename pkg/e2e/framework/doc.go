// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package framework is what the end-to-end tests have in common: a control plane, a namespace for each test, and ways
// to act on it as users do and to wait for what comes of that. What only the tests of one subject need is in their
// package.
package framework
