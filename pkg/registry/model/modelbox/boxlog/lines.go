// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"time"
)

const (
	// maxPiece is how much of a line is held at a time. In a stream of several logs a longer line is sent in pieces, each as a
	// line of its own.
	maxPiece = 64 << 10
	// maxBatch is from how many bytes on lines are sent although there are more to be had at once.
	maxBatch = 32 << 10
	// maxUnstamped is how much is remembered of a line without a time.
	maxUnstamped = 256
)

// errLimit says that as much of a log has been delivered as was asked for.
var errLimit = errors.New("as many bytes as were asked for")

// lineWriter delivers the lines of one log, each once, however often parts of it are read again.
type lineWriter struct {
	out io.Writer
	// prefix is what is before each line. isOnly is whether no other log has lines in between.
	prefix     string
	isOnly     bool
	timestamps bool
	// limited is whether there is a limit, and left how many bytes there may still be.
	limited bool
	left    int64

	position position
	// endsInLine is whether the last line that was delivered has no end.
	endsInLine bool
	// unstamped is the beginning of the last line without a time, which is not the container's but says why it has no log.
	unstamped []byte
	batch     []byte
	// sawLast is whether the last line that was delivered has come again.
	sawLast bool
	// unended is the hash of text without an end that there was at the end of the log when it was read before.
	unended [sha256.Size]byte
}

// logEnd is what an end in the middle of a line means.
type logEnd int

const (
	// endOfConnection has more of the line after it.
	endOfConnection logEnd = iota
	// endOnceMore is the end of the last line if the next read of the log returns the same text.
	endOnceMore
	// endOfLog is the end of the last line.
	endOfLog
)

// copy delivers what is new in a log that is read with times, and returns whether anything was, or may be the next time. isResumed
// is whether it may begin with lines that have been delivered. The end of the log is no error; what its reader or the writer
// returns is.
func (w *lineWriter) copy(log io.Reader, isResumed bool, end logEnd) (isNew bool, err error) {
	reader := bufio.NewReaderSize(log, maxPiece)
	defer func() { w.batch = nil }()
	var repeated *repeats
	if isResumed {
		repeated = w.position.repeats()
	}
	line := &lineState{isFirst: true}
	for {
		piece, readErr := reader.ReadSlice('\n')
		isEnd := readErr == nil
		switch {
		case readErr == nil, errors.Is(readErr, bufio.ErrBufferFull):
		case errors.Is(readErr, io.EOF) && len(piece) > 0 && w.isLastLine(piece, end):
			isEnd = true
		case errors.Is(readErr, io.EOF) && len(piece) > 0 && end == endOnceMore:
			return true, w.flush()
		case errors.Is(readErr, io.EOF):
			return isNew, w.flush()
		default:
			return isNew, errors.Join(readErr, w.flush())
		}
		if !line.isInside {
			piece = w.begin(line, piece, &repeated)
		}
		if !line.isSkipped {
			if err := w.add(line, piece, isEnd); err != nil {
				return true, errors.Join(err, w.flush())
			}
			isNew = isNew || !line.isUnstamped
		}
		line.isInside, line.isFirst = !isEnd, false
		if !hasLine(reader) || len(w.batch) >= maxBatch {
			if err := w.flush(); err != nil {
				return isNew, err
			}
		}
	}
}

// isLastLine returns whether text without an end is the last line.
func (w *lineWriter) isLastLine(text []byte, end logEnd) bool {
	switch end {
	case endOfLog:
		return true
	case endOnceMore:
		sum := sha256.Sum256(text)
		defer func() { w.unended = sum }()
		return sum == w.unended
	default:
		return false
	}
}

// lineState is what is known of the line that is being read.
type lineState struct {
	stamp int64
	// delivered is how many bytes of it were delivered when the log was read before.
	delivered int64
	// isFirst is whether it is the first line of what is read, and isInside whether a piece of it has been read.
	isFirst, isInside bool
	// isUnstamped is whether it has no time, and isSkipped whether it is not to be delivered.
	isUnstamped, isSkipped bool
}

// begin looks at the first piece of a line, and returns what of it is to be delivered.
func (w *lineWriter) begin(line *lineState, piece []byte, repeated **repeats) []byte {
	stamp, content, ok := cutStamp(piece)
	line.stamp, line.isUnstamped, line.isSkipped, line.delivered = stamp, !ok, false, 0
	if !ok {
		// What is read again may begin with the rest of a line that began before the second it is read from.
		isRest := line.isFirst && *repeated != nil
		line.isSkipped = isRest || bytes.Equal(w.unstamped, piece[:min(len(piece), maxUnstamped)])
		if !isRest {
			w.unstamped = append(w.unstamped[:0], piece[:min(len(piece), maxUnstamped)]...)
		}
		return piece
	}
	if *repeated != nil {
		line.isSkipped = (*repeated).has(stamp)
		w.sawLast = w.sawLast || stamp == w.position.newest
		if !line.isSkipped {
			// Lines are only ever added: none that follows has been delivered.
			*repeated = nil
			line.delivered = w.position.deliveredOf(stamp)
		}
	}
	if w.timestamps {
		return piece
	}
	return content
}

// cutStamp takes the time off the beginning of a line, false where there is none.
func cutStamp(line []byte) (stamp int64, content []byte, ok bool) {
	text, content, ok := bytes.Cut(line, []byte{' '})
	if !ok {
		return 0, nil, false
	}
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return 0, nil, false
	}
	return parsed.UnixNano(), content, true
}

// add puts a piece of a line into the batch.
func (w *lineWriter) add(line *lineState, piece []byte, isEnd bool) error {
	continues := line.isInside || line.delivered > 0
	if skipped := min(line.delivered, int64(len(piece))); skipped > 0 {
		line.delivered -= skipped
		piece = piece[skipped:]
	}
	var err error
	if w.limited {
		if int64(len(piece)) >= w.left {
			piece, err = piece[:w.left], errLimit
		}
		w.left -= int64(len(piece))
	}
	if len(piece) > 0 {
		w.append(piece, continues)
	}
	switch {
	case line.isUnstamped:
	case isEnd:
		w.position.add(line.stamp)
	default:
		w.position.addPart(line.stamp, len(piece))
	}
	return err
}

// append adds text to the batch, as a separate line if there are other logs. continues is true if the text continues the line
// before.
func (w *lineWriter) append(text []byte, continues bool) {
	hasEnd := text[len(text)-1] == '\n'
	if w.isOnly {
		if w.endsInLine && !continues {
			w.batch = append(w.batch, '\n')
		}
		if !continues {
			w.batch = append(w.batch, w.prefix...)
		}
		w.batch = append(w.batch, text...)
		w.endsInLine = !hasEnd
		return
	}
	w.batch = append(w.batch, w.prefix...)
	w.batch = append(w.batch, text...)
	if !hasEnd {
		w.batch = append(w.batch, '\n')
	}
}

// flush sends the batch at once, so that it is not mixed with the batches of other logs.
func (w *lineWriter) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	_, err := w.out.Write(w.batch)
	w.batch = w.batch[:0]
	return err
}

// hasLine returns whether another line can be read without waiting.
func hasLine(reader *bufio.Reader) bool {
	buffered, err := reader.Peek(reader.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}
