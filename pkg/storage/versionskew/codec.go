// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package versionskew stops a server that reads objects of a later release with fields that this release does not have. The server
// would drop these fields with its next write, and reconcile the children of the objects as if the fields were not set. Objects of
// a later release without such fields are no error.
package versionskew

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"sigs.k8s.io/json"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/unknownfields"
)

// ErrStored is returned when the store has objects with fields of a later release. The server stops, or does not start.
var ErrStored = errors.New("a later release has stored fields that this release would drop: run the later release again; " +
	"before you run this release, remove the fields from the object there")

// WithCheck returns a getter of options for storage that returns an error for objects with a field that their type in the scheme
// does not have. It calls fail with an error that wraps ErrStored for each of them.
func WithCheck(getter generic.RESTOptionsGetter, scheme *runtime.Scheme, fail context.CancelCauseFunc) generic.RESTOptionsGetter {
	return &checked{getter, scheme, fail}
}

type checked struct {
	generic.RESTOptionsGetter
	scheme *runtime.Scheme
	fail   context.CancelCauseFunc
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (c *checked) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := c.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = &codec{Codec: config.Codec, resource: resource, scheme: c.scheme, fail: c.fail}
	options.StorageConfig = &config
	return options, nil
}

type codec struct {
	runtime.Codec
	resource schema.GroupResource
	scheme   *runtime.Scheme
	fail     context.CancelCauseFunc
}

// Decode implements runtime.Decoder. It returns an error if the object has fields that would be dropped.
func (c *codec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := c.Codec.Decode(data, defaults, into)
	if err != nil {
		return object, kind, err
	}
	if err := c.verify(data, kind); err != nil {
		err = fmt.Errorf("decoding %s %s: %w: %w", c.resource.Resource, nameOf(object), ErrStored, err)
		c.fail(err)
		return nil, kind, err
	}
	return object, kind, nil
}

var (
	protobufPrefix = []byte("k8s\x00")
	jsonPrefix     = []byte("{")
)

// rawNumber is the number of the field raw of runtime.Unknown, which has the object.
const rawNumber protowire.Number = 2

func (c *codec) verify(data []byte, kind *schema.GroupVersionKind) error {
	of, isKnown := c.scheme.AllKnownTypes()[*kind]
	switch {
	case !isKnown:
		return nil
	case bytes.HasPrefix(data, protobufPrefix):
		return unknownfields.Verify(unknownfields.BytesField(data[len(protobufPrefix):], rawNumber), of)
	case bytes.HasPrefix(data, jsonPrefix):
		return verifyJSON(data, of)
	}
	return nil
}

// verifyJSON returns an error for the first field outside of the status that the type does not have.
func verifyJSON(data []byte, of reflect.Type) error {
	unknown, err := json.UnmarshalStrict(data, reflect.New(of).Interface(), json.DisallowUnknownFields)
	if err != nil {
		return err
	}
	for _, err := range unknown {
		if !strings.HasPrefix(err.Error(), `unknown field "status.`) {
			return err
		}
	}
	return nil
}

func nameOf(object runtime.Object) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "without a name"
	}
	return accessor.GetNamespace() + "/" + accessor.GetName()
}
