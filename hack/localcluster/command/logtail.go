// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"io"
	"os"
	"slices"
)

// tailBytes limits the read bytes of a log. It is more than the last lines of a server.
const tailBytes = 16 << 10

// lastLines returns at most count lines from the end of a file.
func lastLines(file string, count int) ([]byte, error) {
	log, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return nil, err
	}
	start := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(log, start, tailBytes))
	if err != nil {
		return nil, err
	}
	lines := slices.Collect(bytes.Lines(content))
	if start > 0 && len(lines) > 1 {
		lines = lines[1:] // cut in the middle
	}
	lines = lines[max(0, len(lines)-count):]
	return bytes.TrimRight(bytes.Join(lines, nil), "\n"), nil
}
