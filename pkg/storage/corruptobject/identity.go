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
	// typeMetaNumber and rawNumber are the numbers of the fields typeMeta and raw of runtime.Unknown, which have the type of the
	// object and the object. The next ones are the fields apiVersion and kind of TypeMeta.
	typeMetaNumber   protowire.Number = 1
	rawNumber        protowire.Number = 2
	apiVersionNumber protowire.Number = 1
	kindNumber       protowire.Number = 2
	// metadataNumber is the number of the field metadata of every object. The others are the fields name and namespace of
	// ObjectMeta.
	metadataNumber  protowire.Number = 1
	nameNumber      protowire.Number = 1
	namespaceNumber protowire.Number = 3
)

// verifyIdentity returns an error if the name and the namespace of an object differ from its key, or if it has no type. Caches identify
// objects by their metadata, and would mistake the object for another. A decoder takes the type of an object without one from its
// caller if that tells it, and fails otherwise: a list would lack an object that a deletion finds. It returns no error for data in
// another encoding: the codec decides.
func verifyIdentity(data, key []byte) error {
	namespace, name := namesOf(key)
	if reasons := pathvalidation.IsValidPathSegmentName(name); len(reasons) > 0 {
		return fmt.Errorf("the name %q %s", name, strings.Join(reasons, ", "))
	}
	var found objectIdentity
	switch {
	case bytes.HasPrefix(data, protobufPrefix):
		found = protobufIdentity(data[len(protobufPrefix):])
	case bytes.HasPrefix(data, jsonPrefix):
		if err := json.Unmarshal(data, &found); err != nil {
			return fmt.Errorf("decoding the metadata: %w", err)
		}
	case bytes.HasPrefix(data, cborPrefix):
		return nil
	default:
		return errors.New("the encoding is not protobuf, JSON or CBOR")
	}
	switch {
	case found.Metadata.Namespace != namespace || found.Metadata.Name != name:
		return fmt.Errorf("the key is of %s/%s, but the metadata has name %q and namespace %q", namespace, name, found.Metadata.Name, found.Metadata.Namespace)
	case found.APIVersion == "" || found.Kind == "":
		return fmt.Errorf("the object must have an apiVersion and a kind, but has %q and %q", found.APIVersion, found.Kind)
	}
	return nil
}

// namesOf returns the last two segments of a key, which are the namespace and the name of an object.
func namesOf(key []byte) (namespace, name string) {
	parent, name := path.Split(string(key))
	return path.Base(parent), name
}

// objectIdentity has the type of an object, and the name and the namespace in its metadata.
type objectIdentity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// protobufIdentity reads the identity without decoding the other fields. If a field occurs more than once, the last value wins, as in
// the decoder.
func protobufIdentity(envelope []byte) objectIdentity {
	var found objectIdentity
	var raw []byte
	eachBytes(envelope, typeMetaNumber, func(typeMeta []byte) {
		eachBytes(typeMeta, apiVersionNumber, func(value []byte) { found.APIVersion = string(value) })
		eachBytes(typeMeta, kindNumber, func(value []byte) { found.Kind = string(value) })
	})
	eachBytes(envelope, rawNumber, func(value []byte) { raw = value })
	eachBytes(raw, metadataNumber, func(metadata []byte) {
		eachBytes(metadata, nameNumber, func(value []byte) { found.Metadata.Name = string(value) })
		eachBytes(metadata, namespaceNumber, func(value []byte) { found.Metadata.Namespace = string(value) })
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
