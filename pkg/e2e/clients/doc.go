// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package clients tests boxes with programs and libraries of users: clients and informers of client-go, controller-runtime, Helm,
// and kstatus. It also applies the components with kinds of cert-manager and of the Prometheus operator.
package clients
