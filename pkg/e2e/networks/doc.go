// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package networks tests Networks, and boxes that use them, in a cluster that first serves NetworkAttachmentDefinitions and then
// stops serving them. The tests attach pods to Networks themselves.
package networks
