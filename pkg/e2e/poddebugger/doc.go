// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger tests that pods get the ephemeral containers of PodDebuggers once, and the permissions for that. Its pods
// have no kubelet: pkg/e2e/containers tests that the containers run.
package poddebugger
