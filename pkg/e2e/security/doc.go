// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package security tests that users get no further permissions through boxes than they have in the cluster, and that the server
// needs no further permissions than its manifests grant.
package security
