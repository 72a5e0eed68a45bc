// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger tests that pods get the ephemeral containers of PodDebuggers, once each, and who may ask for that. Its pods have
// no kubelet: that the containers run is tested in pkg/e2e/containers.
package poddebugger
