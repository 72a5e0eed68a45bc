// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package servingcertificate issues the certificate that the servers of an installation serve with, and the CA that signed
// it. Both are in a Secret that the servers share. They are renewed before they expire and loaded without a restart, and
// the APIService of the servers is told which CAs to trust.
//
// No request fails meanwhile, whichever of the servers it reaches: a CA signs only after the cluster has trusted it for a
// while, and is trusted until it expires, which nothing that it signed outlives.
package servingcertificate
