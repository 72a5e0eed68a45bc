// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubectl tests that the commands of kubectl work with boxes as with built-in kinds.
package kubectl
