// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package versionskew keeps a server from objects that a later release has stored with fields that this one does not know.
// It would drop them with its next write, and reconcile what the objects make as if the fields had never been set. Objects
// without such fields are everybody's, whichever release has stored them.
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

// ErrStored is why a server ends, or does not start: its store has objects of a later release.
var ErrStored = errors.New("a later release has stored fields that this release would drop: run the later release again; " +
	"before you run this release, remove the fields from the object there")

// WithCheck returns a getter of options whose storage decodes no object that has a field which its type in the scheme
// lacks. fail is told of each, with ErrStored.
func WithCheck(getter generic.RESTOptionsGetter, scheme *runtime.Scheme, fail context.CancelCauseFunc) generic.RESTOptionsGetter {
	return &checked{getter, scheme, fail}
}

type checked struct {
	generic.RESTOptionsGetter
	scheme *runtime.Scheme
	fail   context.CancelCauseFunc
}

// GetRESTOptions returns the options of a resource.
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

// Decode returns an error for an object that would lose something.
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

// rawNumber is that of the object in its envelope, a runtime.Unknown.
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

// verifyJSON returns an error for the first field outside of the status that the type lacks.
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
		return "of no name"
	}
	return accessor.GetNamespace() + "/" + accessor.GetName()
}
