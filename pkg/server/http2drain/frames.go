// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bytes"
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
	// noteHeader, if not nil, is called with each header that has passed.
	noteHeader func(http2.FrameHeader)
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
		header := parseHeader(p.header[:])
		p.inHeader, p.payload = 0, int(header.Length)
		if p.noteHeader != nil {
			p.noteHeader(header)
		}
	}
	inPayload := min(p.payload, len(b)-passed)
	p.payload -= inPayload
	return passed + inPayload
}

// parseHeader returns the header of a frame that b begins with (RFC 9113, section 4.1).
func parseHeader(b []byte) http2.FrameHeader {
	const reservedBit = 1 << 31
	return http2.FrameHeader{
		Length:   uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]),
		Type:     http2.FrameType(b[3]),
		Flags:    http2.Flags(b[4]),
		StreamID: binary.BigEndian.Uint32(b[5:]) &^ reservedBit,
	}
}

// frame returns the frame that write writes.
func frame(write func(*http2.Framer) error) []byte {
	var buffer bytes.Buffer
	_ = write(http2.NewFramer(&buffer, nil)) // The buffer takes it.
	return buffer.Bytes()
}

// goAway returns the frame that lets the client open no more streams, and serves all streams that it has opened.
func goAway() []byte {
	return frame(func(f *http2.Framer) error { return f.WriteGoAway(math.MaxInt32, http2.ErrCodeNo, nil) })
}

// maxConcurrentStreams returns the frame that tells the client how many streams it can have open at the same time.
func maxConcurrentStreams(limit int) []byte {
	setting := http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(limit)}
	return frame(func(f *http2.Framer) error { return f.WriteSettings(setting) })
}
