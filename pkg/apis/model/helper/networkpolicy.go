// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

// JobsNetworkPolicyName returns the name of the NetworkPolicy of the pods of the Jobs of the box of the name.
func JobsNetworkPolicyName(box string) string { return box + "-jobs" }
