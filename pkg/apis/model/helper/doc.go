// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package helper answers what a box means where its fields do not say it alone. Validation and rendering ask it, so that
// both go by the same answer.
package helper
