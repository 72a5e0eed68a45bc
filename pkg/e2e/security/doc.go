// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package security tests that no user gets more rights through a box than the cluster gives the user, and that the server needs no
// more rights than its manifests give it.
package security
