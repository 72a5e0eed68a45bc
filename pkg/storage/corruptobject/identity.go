// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
)

// The prefixes of the encodings in a store.
var (
	protobufPrefix = []byte("k8s\x00")
	jsonPrefix     = []byte("{")
	cborPrefix     = []byte("\xd9\xd9\xf7")
)

const (
	// rawNumber is the number of the field raw of runtime.Unknown, which has the object.
	rawNumber protowire.Number = 2
	// metadataNumber is the number of the field metadata of every object. The others are the fields name and namespace of
	// ObjectMeta.
	metadataNumber  protowire.Number = 1
	nameNumber      protowire.Number = 1
	namespaceNumber protowire.Number = 3
)

// verifyIdentity returns an error if the name and the namespace of an object differ from its key. Caches identify objects by their
// metadata, and would mistake the object for another. It returns no error for data in another encoding: the codec decides.
func verifyIdentity(data, key []byte) error {
	namespace, name := namesOf(key)
	if reasons := pathvalidation.IsValidPathSegmentName(name); len(reasons) > 0 {
		return fmt.Errorf("the name %q %s", name, strings.Join(reasons, ", "))
	}
	var found names
	switch {
	case bytes.HasPrefix(data, protobufPrefix):
		found = protobufIdentity(data[len(protobufPrefix):])
	case bytes.HasPrefix(data, jsonPrefix):
		var object struct {
			Metadata names `json:"metadata"`
		}
		if err := json.Unmarshal(data, &object); err != nil {
			return fmt.Errorf("decoding the metadata: %w", err)
		}
		found = object.Metadata
	case bytes.HasPrefix(data, cborPrefix):
		return nil
	default:
		return errors.New("the encoding is not protobuf, JSON or CBOR")
	}
	if found.Namespace != namespace || found.Name != name {
		return fmt.Errorf("the key is of %s/%s, but the metadata has name %q and namespace %q", namespace, name, found.Name, found.Namespace)
	}
	return nil
}

// namesOf returns the last two segments of a key, which are the namespace and the name of an object.
func namesOf(key []byte) (namespace, name string) {
	parent, name := path.Split(string(key))
	return path.Base(parent), name
}

// names has the name and the namespace in the metadata of an object.
type names struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// protobufIdentity reads the name and the namespace without decoding the other fields. If a field occurs more than once, the last
// value wins, as in the decoder.
func protobufIdentity(envelope []byte) names {
	var found names
	var raw []byte
	eachBytes(envelope, rawNumber, func(value []byte) { raw = value })
	eachBytes(raw, metadataNumber, func(metadata []byte) {
		eachBytes(metadata, nameNumber, func(value []byte) { found.Name = string(value) })
		eachBytes(metadata, namespaceNumber, func(value []byte) { found.Namespace = string(value) })
	})
	return found
}

// eachBytes calls visit for every value of a length-delimited field, until the message ends or is malformed.
func eachBytes(message []byte, wanted protowire.Number, visit func([]byte)) {
	for len(message) > 0 {
		number, wireType, tagLength := protowire.ConsumeTag(message)
		if tagLength < 0 {
			return
		}
		message = message[tagLength:]
		length := protowire.ConsumeFieldValue(number, wireType, message)
		if length < 0 {
			return
		}
		if number == wanted && wireType == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			visit(value)
		}
		message = message[length:]
	}
}
