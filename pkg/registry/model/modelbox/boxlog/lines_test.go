// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const (
	first  = "2026-01-01T12:00:00.000000001Z "
	second = "2026-01-01T12:00:00.000000002Z "
	third  = "2026-01-01T12:00:01.000000003Z "
)

func TestCopy(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxPiece)
	errBroken := errors.New("the connection is broken")
	type read struct {
		log string
		err error // at its end, nil for the end of the log
		end logEnd
	}
	for _, row := range []struct {
		name  string
		lines lineWriter
		reads []read
		want  string
	}{
		{"a log among others", lineWriter{prefix: "[pod/web/main] "}, []read{{log: first + "a\n" + second + "\n"}}, "[pod/web/main] a\n[pod/web/main] \n"},
		{"with times", lineWriter{prefix: "> ", timestamps: true}, []read{{log: first + "a\n"}}, "> " + first + "a\n"},
		{"a line that ends in the middle, with the connection", lineWriter{isOnly: true}, []read{{log: first + "a\n" + second + "b"}, {log: first + "a\n" + second + "bc\n"}}, "a\nbc\n"},
		{"a line that ends in the middle, with the log", lineWriter{}, []read{{log: first + "a", end: endOfLog}, {log: first + "a", end: endOfLog}}, "a\n"},
		{"a line that ends in the middle, with the log once it is there again", lineWriter{},
			[]read{{log: first + "a", end: endOnceMore}, {log: first + "ab", end: endOnceMore}, {log: first + "ab", end: endOnceMore}, {log: first + "ab", end: endOnceMore}}, "ab\n"},
		{"the only log is shown as it is", lineWriter{isOnly: true}, []read{{log: first + "a", end: endOfLog}}, "a"},
		{"the only log continues with another instance", lineWriter{isOnly: true}, []read{{log: first + "a", end: endOfLog}, {log: third + "b\n"}}, "a\nb\n"},
		{"a broken connection is resumed", lineWriter{}, []read{{log: first + "a\n" + second + "b\n" + second + "c", err: errBroken}, {log: first + "a\n" + second + "b\n" + second + "cd\n" + third + "e\n"}}, "a\nb\ncd\ne\n"},
		{"lines of the same time", lineWriter{}, []read{{log: first + "a\n" + first + "b\n", err: errBroken}, {log: first + "a\n" + first + "b\n" + first + "c\n" + first + "d\n"}}, "a\nb\nc\nd\n"},
		{"lines out of order, of two streams", lineWriter{}, []read{{log: first + "a\n" + third + "c\n", err: errBroken}, {log: first + "a\n" + third + "c\n" + second + "b\n"}}, "a\nc\nb\n"},
		{"a log that has been rotated", lineWriter{}, []read{{log: first + "a\n" + second + "b\n", err: errBroken}, {log: third + "c\n"}}, "a\nb\nc\n"},
		{"the rest of a line that began earlier", lineWriter{}, []read{{log: first + "a\n" + third + "b\n", err: errBroken}, {log: "of a\n" + third + "b\n" + third + "c\n"}}, "a\nb\nc\n"},
		{"a long line is sent in pieces", lineWriter{prefix: "> "}, []read{{log: first + long + "y\n"}}, "> " + long[:maxPiece-len(first)] + "\n> " + long[:len(first)] + "y\n"},
		{"a long line of the only log is one", lineWriter{isOnly: true}, []read{{log: first + long + "y\n"}}, long + "y\n"},
		{"a long line that breaks", lineWriter{isOnly: true}, []read{{log: first + long + "lost", err: errBroken}, {log: first + long + "lost\n" + second + "b\n"}}, long + "lost\nb\n"},
		{"no more than a limit", lineWriter{isOnly: true, limited: true, left: 3}, []read{{log: first + "a\n" + second + "bcd\n" + third + "e\n"}}, "a\nb"},
		{"what the kubelet says is shown once", lineWriter{}, []read{{log: "unable to retrieve container logs\n"}, {log: "unable to retrieve container logs\n"}}, "unable to retrieve container logs\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got bytes.Buffer
			lines := row.lines
			lines.out = &got
			for i, read := range row.reads {
				reader := io.Reader(strings.NewReader(read.log))
				if read.err != nil {
					reader = io.MultiReader(reader, iotest.ErrReader(read.err))
				}
				if _, err := lines.copy(reader, i > 0, read.end); !errors.Is(err, read.err) && !errors.Is(err, errLimit) {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(row.want, got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// countingWriter counts what is written.
type countingWriter struct{ writes, bytes int }

func (w *countingWriter) Write(data []byte) (int, error) {
	w.writes++
	w.bytes += len(data)
	return len(data), nil
}

func TestCopyWritesManyLinesAtOnceAndNoneTooLate(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(first+"a line\n", 10_000)
	written := &countingWriter{}
	if _, err := (&lineWriter{out: written}).copy(strings.NewReader(many), false, endOfConnection); err != nil {
		t.Fatal(err)
	}
	if written.bytes != 70_000 || written.writes > 100 {
		t.Errorf("%d bytes in %d writes", written.bytes, written.writes)
	}
	written = &countingWriter{}
	if _, err := (&lineWriter{out: written}).copy(iotest.OneByteReader(strings.NewReader(first+"a\n"+second+"b\n")), false, endOfConnection); err != nil {
		t.Fatal(err)
	}
	if written.writes != 2 {
		t.Errorf("two lines that come one after the other are written %d times", written.writes)
	}
}

func BenchmarkCopy(b *testing.B) {
	many := strings.Repeat(first+strings.Repeat("a line ", 14)+"\n", 10_000)
	b.SetBytes(int64(len(many)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (&lineWriter{out: io.Discard, prefix: "[pod/web-557996f76b-nb7ck/web] "}).copy(strings.NewReader(many), false, endOfConnection); err != nil {
			b.Fatal(err)
		}
	}
}
