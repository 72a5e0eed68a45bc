// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package modelbox

// editsOfASeed is how many times the tests edit each box: the detector, which makes them slow, finds nothing more in more
// of what one goroutine does.
const editsOfASeed = 1
