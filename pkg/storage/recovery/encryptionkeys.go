// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// encryptedPrefix is what encrypted values begin with: k8s:enc:<provider>:<version>:<key>:
	encryptedPrefix = "k8s:enc:"
	// keySegments are the segments of the beginning that say which key a value is encrypted with.
	keySegments = 5
)

// encryptionKeys knows of each key whether it decrypts anything.
type encryptionKeys map[string]*encryptionKey

type encryptionKey struct {
	decrypts bool
	// err is that of the first value that could not be read, with the name of its object.
	err error
}

// add takes note of an object of a kind with that noun.
func (k encryptionKeys) add(noun string, entry entry) {
	if !bytes.HasPrefix(entry.value, []byte(encryptedPrefix)) {
		return
	}
	beginning := string(entry.value[:min(len(entry.value), 256)])
	segments := strings.SplitN(beginning, ":", keySegments+1)
	name := strings.Join(segments[:min(len(segments), keySegments)], ":")
	if k[name] == nil {
		k[name] = &encryptionKey{}
	}
	switch {
	case entry.err == nil:
		k[name].decrypts = true
	case k[name].err == nil:
		k[name].err = fmt.Errorf("%s %s: %w", noun, entry.name, entry.err)
	}
}

// missing returns an error for the keys that decrypt nothing, nil for none. One value among others of its key that cannot be
// decrypted is damaged.
func (k encryptionKeys) missing() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if key := k[name]; key.err != nil && !key.decrypts {
			errs = append(errs, key.err)
		}
	}
	return errors.Join(errs...)
}
