// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonform"
)

// placeholderKind marks a placeholder. No other internal object has a kind: the codec clears it.
var placeholderKind = schema.GroupVersionKind{Group: "corruptobject.internal", Version: runtime.APIVersionInternal, Kind: "Placeholder"}

// isPlaceholder returns whether an object is a placeholder for an object that cannot be read.
func isPlaceholder(object runtime.Object) bool {
	return object.GetObjectKind().GroupVersionKind() == placeholderKind
}

// codec decodes objects. In a tolerant read, it returns a placeholder, with only a namespace and a name, for an object that cannot
// be read.
type codec struct {
	runtime.Codec
	resource schema.GroupResource
	// objectType is the type of the objects.
	objectType reflect.Type
	tracker    *Tracker
}

// Decode implements runtime.Decoder.
func (c *codec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	key, reason, inner, isEnvelope := open(data)
	if !isEnvelope {
		return c.decode(data, defaults, into)
	}
	if reason == "" {
		object, kind, err := c.decode(inner, defaults, into)
		if err == nil {
			return object, kind, nil
		}
		reason = err.Error()
	}
	namespace, name := namesOf(key)
	c.tracker.add(id{c.resource, namespace, name}, reason)
	return c.placeholder(namespace, name), &placeholderKind, nil
}

// decode decodes an object of objectType that has a JSON form. It returns an error for any other data, and never panics.
func (c *codec) decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (object runtime.Object, kind *schema.GroupVersionKind, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			object, kind, err = nil, nil, fmt.Errorf("decoding panicked: %v", panicked)
		}
	}()
	if object, kind, err = c.Codec.Decode(data, defaults, into); err != nil {
		return object, kind, err
	}
	if got := reflect.TypeOf(object); got != c.objectType {
		return nil, kind, fmt.Errorf("the object is a %s, but must be a %s", got, c.objectType)
	}
	if found := jsonform.Find(object); found != nil {
		return nil, kind, found
	}
	return object, kind, nil
}

func (c *codec) placeholder(namespace, name string) runtime.Object {
	object := reflect.New(c.objectType.Elem()).Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(placeholderKind)
	// Every stored object has metadata.
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetNamespace(namespace)
		accessor.SetName(name)
	}
	return object
}
