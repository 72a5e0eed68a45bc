// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package linearizability checks what clients were told while the server was killed, frozen and restarted: that every object
// behaved as if one request was served after the other, that every list is what the store had at its revision, and that every
// watch told each change once and in order. The checks need no control plane.
package linearizability
