// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"sync"

	"golang.org/x/net/http2"
)

// streams are the open streams of a connection. The zero value has none.
type streams struct {
	mu   sync.Mutex
	open map[uint32]struct{}
	// latest is the last stream that the client has opened.
	latest uint32
	// settings are the SETTINGS that the client has not acknowledged, in their order: nil for the SETTINGS of the server of HTTP/2.
	settings []*streamLimit
	// limit is the last one that the client has acknowledged, nil if there is none.
	limit *streamLimit
}

// streamLimit is how many streams the client is allowed to have open at the same time.
type streamLimit struct {
	streams int
	// known is closed when the client has acknowledged the limit, and reached when it then has so many streams open.
	known, reached chan struct{}
}

func newStreamLimit(streams int) *streamLimit {
	return &streamLimit{streams: streams, known: make(chan struct{}), reached: make(chan struct{})}
}

// received notes a frame of the client. It returns false if the server of HTTP/2 must not see the frame, because it acknowledges
// SETTINGS that the server does not know of.
func (s *streams) received(header http2.FrameHeader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isAck := header.Type == http2.FrameSettings && header.Flags.Has(http2.FlagSettingsAck)
	switch {
	case header.Type == http2.FrameHeaders && header.StreamID > s.latest: // or they are trailers
		if s.open == nil {
			s.open = map[uint32]struct{}{}
		}
		s.latest = header.StreamID
		s.open[header.StreamID] = struct{}{}
		s.checkLimit()
	case header.Type == http2.FrameRSTStream:
		delete(s.open, header.StreamID)
	case isAck && len(s.settings) > 0:
		limit := s.settings[0]
		s.settings = s.settings[1:]
		if limit == nil {
			break
		}
		close(limit.known)
		s.limit = limit
		s.checkLimit()
		return false
	}
	return true
}

// checkLimit closes reached of the limit if the client has reached it. It then has none.
func (s *streams) checkLimit() {
	if s.limit != nil && len(s.open) >= s.limit.streams {
		close(s.limit.reached)
		s.limit = nil
	}
}

// sent notes a frame of the server of HTTP/2.
func (s *streams) sent(header http2.FrameHeader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch header.Type {
	case http2.FrameHeaders, http2.FrameData:
		if header.Flags.Has(http2.FlagDataEndStream) { // FlagHeadersEndStream is the same.
			delete(s.open, header.StreamID)
		}
	case http2.FrameRSTStream:
		delete(s.open, header.StreamID)
	case http2.FrameSettings:
		if !header.Flags.Has(http2.FlagSettingsAck) {
			s.settings = append(s.settings, nil)
		}
	}
}

// await expects that the client acknowledges the limit, which is sent next.
func (s *streams) await(limit *streamLimit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = append(s.settings, limit)
}

// count returns how many streams are open, and how many the client has opened so far.
func (s *streams) count() (open, opened int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open), int(s.latest+1) / 2 // They have odd numbers.
}
