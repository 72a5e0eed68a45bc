// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ecosystem tests boxes together with programs that users and administrators run: Argo CD, Velero, Gatekeeper, Kyverno and stern.
// "make test-ecosystem" builds the programs and runs the tests.
package ecosystem
