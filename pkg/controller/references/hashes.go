// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// hashSize is the number of bytes of a hash. A change is missed with a probability of one in four billion.
	hashSize = 4
	// maxAnnotation is the largest annotation with the hash of each key, in bytes. The annotation is in the pod template, in the record
	// of the box and in each revision.
	maxAnnotation = 4 << 10
	// allKeys is in place of the keys of an object, and allObjects in place of the objects, if there are too many of them.
	allKeys    = "*"
	allObjects = "*"
)

// hasher computes hashes with a key, without which a user cannot guess values by their hashes.
type hasher []byte

// value returns the hash of the value of a key of an object. The same value has another hash in another object, so that a user cannot
// compare it with values of their own.
func (h hasher) value(kind, namespace, name, key string, value []byte) string {
	mac := hmac.New(sha256.New, h)
	for _, part := range []string{kind, namespace, name, key} {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	mac.Write(value)
	return hex.EncodeToString(mac.Sum(nil)[:hashSize])
}

// objectHashes are the hashes of the values of an object by their keys. Nil: the object does not exist.
type objectHashes map[string]string

// hashes are the hashes of the objects that the pods of a box refer to, as in modelboxrender.ReferenceHashes.
type hashes = map[string]map[string]string

// used returns the hashes of the keys that the reference uses.
func (o objectHashes) used(reference *modelboxrender.Reference) objectHashes {
	if reference.Keys == nil || o == nil {
		return o
	}
	used := objectHashes{}
	for key := range reference.Keys {
		if hash, ok := o[key]; ok {
			used[key] = hash
		}
	}
	return used
}

// whole returns one hash in place of the hashes of all keys.
func (o objectHashes) whole() objectHashes {
	if len(o) == 0 {
		return o
	}
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(sum, "%d:%s%s", len(key), key, o[key])
	}
	return objectHashes{allKeys: hex.EncodeToString(sum.Sum(nil)[:hashSize])}
}

// shortened returns hashes with one hash for each object if the hashes of all keys are too long for the annotation, or with one hash
// for all objects.
func shortened(h hashes) (hashes, error) {
	encoded, err := json.Marshal(h)
	if err != nil || len(encoded) <= maxAnnotation {
		return h, err
	}
	shorter := hashes{}
	for name, object := range h {
		shorter[name] = objectHashes(object).whole()
	}
	if encoded, err = json.Marshal(shorter); err != nil || len(encoded) <= maxAnnotation {
		return shorter, err
	}
	sum := sha256.Sum256(encoded)
	return hashes{allObjects: {allKeys: hex.EncodeToString(sum[:hashSize])}}, nil
}
