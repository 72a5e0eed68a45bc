// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package networks tests what becomes of Networks, and of boxes that use them, in a cluster that gets the kind
// NetworkAttachmentDefinition and loses it again. What attaches pods to networks is the tests themselves.
package networks
