// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package containers tests running applications, their reachability and the installation, for which simulated nodes are not enough.
// It needs a container node, which requires Linux and root, and skips its tests otherwise.
package containers
