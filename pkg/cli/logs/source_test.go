// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"testing"
)

func TestLinesOfAComponent(t *testing.T) {
	for _, row := range []struct {
		name, prefix string
		pieces       []string
		want         string
	}{
		{"lines", "[shop/db] ", []string{"one\n", "two\n"}, "[shop/db] one\n[shop/db] two\n"},
		{"pieces of a line", "[shop/db] ", []string{"on", "e\n", "two"}, "[shop/db] one\n[shop/db] two"},
		{"a box without a stack", "", []string{"one\n"}, "one\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := &bytes.Buffer{}
			writer := source{prefix: row.prefix}.writer(out)
			for _, piece := range row.pieces {
				if written, err := writer.Write([]byte(piece)); err != nil || written != len(piece) {
					t.Fatalf("wrote %d, %v", written, err)
				}
			}
			if out.String() != row.want {
				t.Errorf("got %q, want %q", out, row.want)
			}
		})
	}
}
