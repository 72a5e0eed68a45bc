// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package decodedsize estimates how much memory an encoded object takes before anything decodes it. Two bytes of protobuf
// or three of JSON are a whole Container, so the size of the encoded form bounds nothing.
package decodedsize

import (
	"cmp"
	"fmt"
	"strings"
)

const (
	// MaxElements is how many elements a list and how many entries a map of an encoded object may have. It is 16 times the
	// largest maximum that the API publishes: validation refuses a list of fewer, and names its own maximum.
	MaxElements = 16 << 10

	// valueBytes is what each value takes beside its Go type. Managed fields, conversions and patches hold every value in a
	// tree of their own.
	valueBytes = 320
	// growth is how much larger a list or a map is while it grows.
	growth = 2
	// maxDepth is how deep the decoders of JSON and YAML go.
	maxDepth = 10000
)

// TooManyError says that a list or a map has more than MaxElements.
type TooManyError struct {
	// Path leads to the list or the map, such as spec.containers. It is empty for one that no field of the object is.
	Path string
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s: Too many: must have at most %d items", orRoot(e.Path), MaxElements)
}

// TooLargeError says that an object would take more memory than it may.
type TooLargeError struct {
	// Path leads to the value at which the limit was reached. It is empty for the object itself.
	Path string
	// Limit is how many bytes of memory the object may take.
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: Too large: the decoded object must take at most %d MiB of memory", orRoot(e.Path), e.Limit>>20)
}

func orRoot(path string) string { return cmp.Or(path, "object") }

// estimate is how much memory an object takes as far as it has been read.
type estimate struct {
	bytes, limit int64
	// path has the names of the fields that lead to what is being read, the inline ones without a name.
	path []string
}

// add counts the values and their bytes. It returns a TooLargeError when the limit is exceeded.
func (e *estimate) add(values, bytes int64) error {
	if e.bytes += values*valueBytes + bytes; e.bytes <= e.limit {
		return nil
	}
	return &TooLargeError{Path: e.pathString(), Limit: e.limit}
}

func (e *estimate) tooMany() error { return &TooManyError{Path: e.pathString()} }

func (e *estimate) pathString() string {
	var names []string
	for _, name := range e.path {
		if name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ".")
}

func (e *estimate) enter(name string) { e.path = append(e.path, name) }
func (e *estimate) leave()            { e.path = e.path[:len(e.path)-1] }
