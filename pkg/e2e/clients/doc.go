// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package clients tests boxes through the programs and libraries that others use: client-go's clients and informers,
// controller-runtime, Helm, and kstatus. It also applies the components that are of the kinds of cert-manager and of the Prometheus
// operator.
package clients
