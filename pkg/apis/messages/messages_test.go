// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestFieldNamed(t *testing.T) {
	type shape struct {
		IsKnown, IsList, IsMap, IsNumeric, IsMessage bool
		Bytes                                        int64
	}
	sizeOf := func(of reflect.Type) int64 { return int64(of.Size()) }
	for _, row := range []struct {
		name  string
		of    reflect.Type
		field string
		want  shape
	}{
		{"a message", reflect.TypeFor[modelv1.ModelBox](), "spec", shape{IsKnown: true, IsMessage: true}},
		{"a list of messages", reflect.TypeFor[modelv1.ModelBoxSpec](), "containers", shape{IsKnown: true, IsList: true, IsMessage: true, Bytes: sizeOf(reflect.TypeFor[corev1.Container]())}},
		{"a list of strings", reflect.TypeFor[modelv1.ModelBoxSpec](), "args", shape{IsKnown: true, IsList: true, Bytes: sizeOf(reflect.TypeFor[string]())}},
		{"a list of numbers", reflect.TypeFor[corev1.PodSecurityContext](), "supplementalGroups", shape{IsKnown: true, IsList: true, IsNumeric: true, Bytes: 8}},
		{"a map", reflect.TypeFor[modelv1.ModelBoxSpec](), "annotations", shape{IsKnown: true, IsList: true, IsMap: true, Bytes: 2 * sizeOf(reflect.TypeFor[string]())}},
		{"a pointer", reflect.TypeFor[modelv1.ModelBoxSpec](), "podTemplate", shape{IsKnown: true, IsMessage: true, Bytes: sizeOf(reflect.TypeFor[corev1.PodTemplateSpec]())}},
		{"a field of one that JSON has inline", reflect.TypeFor[corev1.Volume](), "emptyDir", shape{IsKnown: true, IsMessage: true, Bytes: sizeOf(reflect.TypeFor[corev1.EmptyDirVolumeSource]())}},
		{"no field", reflect.TypeFor[modelv1.ModelBoxSpec](), "Containers", shape{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			field, isKnown := Of(row.of).FieldNamed(row.field)
			got := shape{IsKnown: isKnown}
			if isKnown {
				got = shape{true, field.IsList, field.IsMap, field.IsNumeric, field.Message != nil, field.Bytes}
			}
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestLargestElement(t *testing.T) {
	if got, want := Of(reflect.TypeFor[modelv1.ModelBox]()).LargestElement(), int64(reflect.TypeFor[corev1.Container]().Size()); got < want {
		t.Errorf("got %d bytes, a Container has %d", got, want)
	}
}
