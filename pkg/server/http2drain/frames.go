// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"encoding/binary"
	"math"

	"golang.org/x/net/http2"
)

// frameHeaderLength is the length of the header of a frame, in bytes (RFC 9113, section 4.1).
const frameHeaderLength = 9

// framePosition is a position in a sequence of frames. The zero value is the position before the first frame.
type framePosition struct {
	header [frameHeaderLength]byte
	// inHeader is how many bytes of the header have passed, and payload how many bytes of the payload have not.
	inHeader, payload int
}

// isBetweenFrames tells whether another frame can be inserted at the position.
func (p *framePosition) isBetweenFrames() bool { return p.inHeader == 0 && p.payload == 0 }

// pass moves the position to the end of the frame, or to the end of b if that comes first. It returns how many bytes of b have
// passed.
func (p *framePosition) pass(b []byte) int {
	passed := 0
	if p.payload == 0 {
		passed = copy(p.header[p.inHeader:], b)
		p.inHeader += passed
		if p.inHeader < frameHeaderLength {
			return passed
		}
		p.inHeader = 0
		p.payload = int(p.header[0])<<16 | int(p.header[1])<<8 | int(p.header[2])
	}
	inPayload := min(p.payload, len(b)-passed)
	p.payload -= inPayload
	return passed + inPayload
}

// goAway returns the frame that lets the client open no more streams, and serves all streams that it has opened.
func goAway() []byte {
	const payloadLength = 8
	frame := make([]byte, frameHeaderLength, frameHeaderLength+payloadLength)
	frame[2], frame[3] = payloadLength, byte(http2.FrameGoAway)
	frame = binary.BigEndian.AppendUint32(frame, math.MaxInt32)
	return binary.BigEndian.AppendUint32(frame, uint32(http2.ErrCodeNo))
}
