// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package migrate has the tests of boxes that come from a CustomResourceDefinition to the server, and go back. They have a
// control plane of their own, because the group is served to all of it by one or the other.
package migrate
