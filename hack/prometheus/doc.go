// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package prometheus tests what is shipped for Prometheus with the engine of Prometheus: the rules, the metrics that they
// read, and where each alert leads. It is a module of its own so that Prometheus never reaches the product.
package prometheus
