// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ecosystem tests boxes together with programs that administrators run in their clusters: Velero, Gatekeeper and Kyverno. "make
// test-ecosystem" builds the programs and runs the tests.
package ecosystem
