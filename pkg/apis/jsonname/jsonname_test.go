// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package jsonname

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestFieldsOfInternalTypesHaveTheirServedNames(t *testing.T) {
	for internal, served := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[model.ModelBoxSpec]():    reflect.TypeFor[modelv1.ModelBoxSpec](),
		reflect.TypeFor[model.ModelBoxStatus]():  reflect.TypeFor[modelv1.ModelBoxStatus](),
		reflect.TypeFor[model.ModelStackSpec]():  reflect.TypeFor[modelv1.ModelStackSpec](),
		reflect.TypeFor[model.NetworkSpec]():     reflect.TypeFor[modelv1.NetworkSpec](),
		reflect.TypeFor[model.PodDebuggerSpec](): reflect.TypeFor[modelv1.PodDebuggerSpec](),
		reflect.TypeFor[model.ModelBoxDebug]():   reflect.TypeFor[modelv1.ModelBoxDebug](),
	} {
		for i := range internal.NumField() {
			field := internal.Field(i)
			servedField, exists := served.FieldByName(field.Name)
			if !exists {
				t.Fatalf("%s has no field %s", served, field.Name)
			}
			if got, want := Of(field), Of(servedField); got != want && !field.Anonymous {
				t.Errorf("the field %s of %s has the name %q, want %q", field.Name, internal, got, want)
			}
		}
	}
}

func TestOf(t *testing.T) {
	type Abbreviations struct {
		metav1.TypeMeta
		metav1.ObjectMeta
		TTY       bool
		HostPIDNS bool
		UIDRange  string
		Renamed   string        `json:"other,omitempty"`
		Inline    metav1.Status `json:",inline"`
		Hidden    string        `json:"-"`
	}
	of := reflect.TypeFor[Abbreviations]()
	for i, want := range []string{"", "metadata", "tty", "hostPIDNS", "uidRange", "other", "", "-"} {
		if got := Of(of.Field(i)); got != want {
			t.Errorf("the field %s has the name %q, want %q", of.Field(i).Name, got, want)
		}
	}
}
