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
	// encryptedPrefix is the prefix of encrypted values, which begin with k8s:enc:<provider>:<version>:<key>:
	encryptedPrefix = "k8s:enc:"
	// keySegments is the number of segments at the beginning of a value that identify its key.
	keySegments = 5
)

// encryptionKeys has the keys of all encrypted values, and whether the server can decrypt any value of a key.
type encryptionKeys map[string]*encryptionKey

type encryptionKey struct {
	decrypts bool
	// err is the error for the first value of the key that cannot be read, with the name of its object.
	err error
}

// add adds the key of an entry. noun is the noun of its kind.
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

// missing returns an error that names the keys that decrypt no value, nil if there are none. If a key decrypts some of its values,
// the other values are corrupt.
func (k encryptionKeys) missing() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if key := k[name]; key.err != nil && !key.decrypts {
			errs = append(errs, key.err)
		}
	}
	return errors.Join(errs...)
}
