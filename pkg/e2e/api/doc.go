// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package api tests the API of the objects: validation and its errors, merges of the writes of several users, selectors, and
// discovery.
package api
