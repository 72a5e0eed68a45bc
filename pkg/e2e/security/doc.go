// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package security tests that nobody gets more by a box than the cluster gives them, and that the server needs no more
// rights than its manifests give it.
package security
