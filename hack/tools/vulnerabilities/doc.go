// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package vulnerabilities tests hack/verify-vulnerabilities.sh.
package vulnerabilities
