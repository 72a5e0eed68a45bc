// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import globalrand "math/rand"

// seedGlobalRandom seeds what client-go chooses waits by. Without randseednop=0 in go.mod it would not.
func seedGlobalRandom(seed int64) {
	globalrand.Seed(seed) //nolint:staticcheck // There is no other way to seed what libraries choose by.
}
