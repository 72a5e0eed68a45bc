// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package migrate tests the migration of boxes from a CustomResourceDefinition to the server and back. It has a separate control
// plane, because either serves the group in the whole cluster.
package migrate
