// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bufio"

	"golang.org/x/net/http2"
)

// frameReader reads what a client sends, without the frames that the server of HTTP/2 must not see.
type frameReader struct {
	reader *bufio.Reader
	// left is how many bytes are left of the frame, or of the preface of the client.
	left int
	// received notes a frame, and returns whether the server may see it.
	received func(http2.FrameHeader) bool
}

// Read implements io.Reader.
func (r *frameReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		b, err := r.reader.Peek(frameHeaderLength)
		if err != nil {
			return 0, err
		}
		header := parseHeader(b)
		r.left = frameHeaderLength + int(header.Length)
		if r.received(header) {
			break
		}
		discarded, err := r.reader.Discard(r.left)
		if r.left -= discarded; err != nil {
			return 0, err
		}
	}
	n, err := r.reader.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
