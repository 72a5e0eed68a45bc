// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package servingcertificate issues the serving certificate of the servers of an installation, and the CA that signs it. Both are
// in a Secret that the servers share. The servers renew them before they expire, load them without a restart, and write the CAs to
// the caBundle of the APIService.
//
// A rotation interrupts no requests to any of the servers. A new CA signs only after the cluster has trusted it for a while. The
// cluster trusts a CA until it expires, and no certificate outlives its CA.
package servingcertificate
