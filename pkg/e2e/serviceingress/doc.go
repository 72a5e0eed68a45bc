// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serviceingress tests the controller that gives annotated Services an Ingress, which is off by default: its tests
// have control planes of their own.
package serviceingress
