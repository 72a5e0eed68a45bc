// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubectl tests that kubectl does with boxes what it does with the objects of Kubernetes itself.
package kubectl
