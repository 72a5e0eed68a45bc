// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package api tests what the API promises for the objects themselves: what is accepted and what is refused, in which
// words, how writes of several users are merged, what can be selected, and what discovery says.
package api
