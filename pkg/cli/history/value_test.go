// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package history

import "testing"

func TestWithoutNull(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":          "",
		`"nginx:1"`: `"nginx:1"`,
		`{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}},"spec":{"containers":null}}`: `{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}`,
		`[{"name":"a","value":null,"port":9007199254740993,"note":"<"}]`:                                      `[{"name":"a","note":"<","port":9007199254740993}]`,
		`{"emptyDir":{}}`: `{"emptyDir":{}}`,
		`{"spec":{"containers":null,"volumes":[{"emptyDir":{}}]}}`: `{"spec":{"volumes":[{"emptyDir":{}}]}}`,
		`{"spec":{"containers":null,"hostname":"a lo…`:             `{"spec":{"containers":null,"hostname":"a lo…`,
	} {
		if got := withoutNull(value); got != want {
			t.Errorf("%s is printed as %s, want %s", value, got, want)
		}
	}
}
