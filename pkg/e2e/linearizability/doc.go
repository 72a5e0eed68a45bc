// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package linearizability checks the responses to clients while the server is killed, frozen and restarted: the requests for every
// object are linearizable, every list matches the store at its revision, and every watch has each change once and in order. The
// checks need no control plane.
package linearizability
