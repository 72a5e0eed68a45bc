// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serviceingress tests the controller that creates an Ingress for annotated Services. The controller is disabled by
// default. Therefore, its tests have separate control planes.
package serviceingress
