// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

func FuzzFramePosition(f *testing.F) {
	f.Add(goAway(), uint16(1))
	f.Add(append(make([]byte, 2*frameHeaderLength), goAway()...), uint16(8))
	f.Add(append([]byte{0, 1, 0, 0, 0, 0, 0, 0, 1}, make([]byte, 300)...), uint16(100))
	f.Fuzz(func(t *testing.T, written []byte, pieceLength uint16) {
		var headers, wantHeaders []string
		ends := map[int]bool{0: true}
		for end := 0; len(written)-end >= frameHeaderLength; {
			header, err := http2.ReadFrameHeader(bytes.NewReader(written[end:]))
			if err != nil {
				t.Fatal(err)
			}
			wantHeaders = append(wantHeaders, header.String())
			if end += frameHeaderLength + int(header.Length); end <= len(written) {
				ends[end] = true
			} else {
				break
			}
		}
		position := framePosition{noteHeader: func(header http2.FrameHeader) { headers = append(headers, header.String()) }}
		passed := 0
		for passed < len(written) {
			piece := written[passed:min(len(written), passed+int(pieceLength)+1)]
			n := position.pass(piece)
			if n < 1 || n > len(piece) {
				t.Fatalf("%d of %d bytes have passed", n, len(piece))
			}
			for skipped := passed + 1; skipped < passed+n; skipped++ {
				if ends[skipped] {
					t.Fatalf("the end of a frame at %d has passed unseen", skipped)
				}
			}
			passed += n
			if position.isBetweenFrames() != ends[passed] {
				t.Fatalf("position %d is between frames: %t", passed, position.isBetweenFrames())
			}
		}
		if diff := cmp.Diff(wantHeaders, headers); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	})
}

func TestGoAwayNamesHighestStream(t *testing.T) {
	frame, err := http2.NewFramer(nil, bytes.NewReader(goAway())).ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	if frame, ok := frame.(*http2.GoAwayFrame); !ok || frame.LastStreamID != 1<<31-1 || frame.ErrCode != http2.ErrCodeNo {
		t.Errorf("the frame is %v", frame)
	}
}
