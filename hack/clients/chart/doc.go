// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart has the tests of the product's Helm chart: it installs what the kustomize overlays do.
package chart
