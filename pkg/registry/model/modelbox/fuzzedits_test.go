// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package modelbox

// editsOfASeed is how many times the tests edit each box. "make fuzz" continues from there.
const editsOfASeed = 20
